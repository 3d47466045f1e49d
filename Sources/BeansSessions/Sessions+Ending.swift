import Beans
@_spi(BeansPackage) import BeansErrors

extension Sessions {
  /// Replaces the id of a session, such as at a login or a checkout: an attacker who has learnt or planted the old id
  /// cannot use the session any longer.
  ///
  /// The environment, its beans and its idle time are unaffected. The two ids are exchanged atomically.
  ///
  /// - Parameters:
  ///   - id: the current id of the session.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Returns: the new id, as `newId()` makes it. It has to reach the client.
  /// - Throws: `.finished` if there is no such session or it is ending; `.notReady` with a store.
  public func rotate(_ id: String, file: StaticString = #fileID, line: UInt = #line) throws -> String {
    try checkMemory(file, line)
    guard let other = rename(id) else { throw unknown(file, line) }
    return other
  }

  /// Replaces the id of a session like the synchronous form, also in a store.
  ///
  /// - Parameters:
  ///   - id: the current id of the session.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Returns: the new id, as `newId()` makes it. It has to reach the client.
  /// - Throws: `.finished` if there is no such session or it is ending; with a store, `SessionError`.
  public nonisolated(nonsending) func rotate(
    _ id: String, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> String {
    guard let stored else {
      guard let other = rename(id) else { throw unknown(file, line) }
      return other
    }
    guard case .set(let other)? = try await stored.withKnownSession(id, { $0.rotate() })?.cookie else {
      throw unknown(file, line)
    }
    return other
  }

  /// Replaces the id of a session by the returned one; nil if there is none, or if it is ending.
  func rename(_ id: String) -> String? {
    let other = newId()
    let session = state.withLock { state in
      let session = state.table.rename(id, to: other)
      if session != nil { state.counts.rotated += 1 }
      return session
    }
    guard let session else { return nil }
    // The session is in use here, so that its end is reported later.
    defer { session.leaveBody() }
    observer?(.rotated(from: id, to: other))
    return other
  }

  /// Ends the session with that id, such as on logout. Its id is unknown from then on. Does not wait for the place
  /// where its beans are released.
  ///
  /// - Parameters:
  ///   - id: the id of the session; without effect if there is no such session.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: `.notReady` with a store; otherwise nothing.
  public func end(_ id: String, file: StaticString = #fileID, line: UInt = #line) throws {
    try checkMemory(file, line)
    endInMemory(id)
  }

  /// Ends the session with that id like the synchronous form, also in a store: then without the changes of requests
  /// that are inside.
  ///
  /// - Throws: `SessionError` of the store; nothing without a store.
  public nonisolated(nonsending) func end(_ id: String) async throws {
    guard let stored else { return endInMemory(id) }
    _ = try await stored.withKnownSession(id) { $0.end() }
  }

  private func endInMemory(_ id: String) { state.withLock { $0.table.unlist(id) }?.finish(by: .registry) }

  /// Ends a session that the caller has found, regardless of its present id.
  func end(_ session: SessionTable.Found) {
    state.withLock { $0.table.unlist(session) }
    session.environment.finish(by: .registry)
  }

  /// Removes an ended session.
  func remove(_ index: Int32) {
    let removed = state.withLock { state in
      let removed = state.table.remove(index)
      state.counts.finished += 1
      switch removed?.0 {
      case .expired: state.counts.expired += 1
      case .evicted: state.counts.evicted += 1
      default: break
      }
      return removed
    }
    if let (event, _) = removed { observer?(event) }
  }
}
