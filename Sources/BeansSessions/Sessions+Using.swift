public import Beans
@_spi(BeansPackage) import BeansErrors

extension Sessions {
  /// Returns the session with that id, or nil if there is none or it is ending. With a store, returns nil unless
  /// requests are inside the session on this node.
  ///
  /// The session may end at any time after that; `withSession` keeps it alive.
  public func find(_ id: String) -> Environment? {
    if let stored { return stored.find(id) }
    return atPresent { $0.table.find(id, entering: false)?.environment }
  }

  /// Runs `body` inside of the session with that id, so that the session is neither evicted nor ended by its idle time.
  ///
  /// After an explicit end, such as `end(_:)` or that of the application, lookups in `body` throw `.finished`; beans
  /// are released after `body`. A deadline of the session, and the limit of a shutdown, do not wait for `body`. A
  /// `shutdown()` of the session from inside `body` begins the end and does not wait.
  ///
  /// - Parameters:
  ///   - id: the id of the session.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  ///   - body: runs inside of the session, and keeps it open.
  /// - Returns: the result of `body`; nil, without a call of it, if there is no such session or it is ending.
  /// - Throws: the error that `body` throws; `.finished` if an end that could not wait for `body` has failed the
  ///   session; `.notReady` with a store.
  @_disfavoredOverload
  public func withSession<R>(
    _ id: String, file: StaticString = #fileID, line: UInt = #line, _ body: (Environment) throws -> R
  ) throws -> R? {
    try checkMemory(file, line)
    guard let session = enter(id) else { return nil }
    defer { left(session) }
    return try checked(session.environment.inside(body), session)
  }

  /// Runs an asynchronous `body` like the synchronous form, on the caller's actor. In `body`, and in tasks that it
  /// begins, `await shutdown()` of the session or of one above it begins the end and does not wait; a synchronous
  /// `shutdown()` would wait for itself. With a store, saves the changes of `body`.
  ///
  /// - Throws: as the synchronous form; with a store, the errors of `withSession(cookie:)` instead of `.notReady`.
  public nonisolated(nonsending) func withSession<R>(
    _ id: String, _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R? {
    if let stored { return try await stored.withKnownSession(id) { try await body($0.environment) }?.value }
    guard let session = enter(id) else { return nil }
    defer { left(session) }
    return try checked(await session.environment.inside(body), session)
  }

  /// Runs `body` inside of the session with that id, which is opened if needed. In memory only.
  ///
  /// - Parameters:
  ///   - id: the id of the session. Never an unknown one that a client has sent: see `newId()`.
  ///   - seed: the seed of a new session; evaluated only to open one.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  ///   - body: runs inside, as in the form without a seed.
  /// - Throws: the errors of `open` and `body`; `.finished` if the new session's scope has ended it before `body`
  ///   began, or if an end that could not wait for `body` has failed the session.
  @_disfavoredOverload
  public func withSession<R>(
    _ id: String, opening seed: @autoclosure () throws -> Seed, file: StaticString = #fileID, line: UInt = #line,
    _ body: (Environment) throws -> R
  ) throws -> R {
    let session = try acquire(id, entering: true, file, line, seed)
    defer { left(session) }
    return try checked(session.environment.inside(body), session)
  }

  /// Runs an asynchronous `body` like the synchronous form. It runs on the caller's actor, and may use its state.
  ///
  /// - Parameters:
  ///   - id: the id of the session. Never an unknown one that a client has sent: see `newId()`.
  ///   - seed: the seed of a new session; evaluated only to open one.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  ///   - body: runs inside, as in the form without a seed.
  /// - Throws: as the synchronous form.
  public nonisolated(nonsending) func withSession<R>(
    _ id: String, opening seed: @autoclosure () throws -> Seed, file: StaticString = #fileID, line: UInt = #line,
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R {
    let session = try acquire(id, entering: true, file, line, seed)
    defer { left(session) }
    return try checked(await session.environment.inside(body), session)
  }

  /// Returns the result of a body, unless an end that could not wait for the body has failed the session.
  func checked<R>(_ result: R, _ session: SessionTable.Found) throws -> R {
    try session.environment.checkBodies()
    return result
  }

  func enter(_ id: String) -> SessionTable.Found? { atPresent { $0.table.find(id, entering: true) } }

  /// Notes the end of a use, from which the idle time is measured.
  func left(_ session: SessionTable.Found) {
    if timer != nil { atPresent { $0.table.leave(session) } }
  }
}
