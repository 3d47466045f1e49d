/// A failed save of an open session. It concerns each request inside that has changes which no earlier save has written.
struct SaveFailure {
  /// The error of the store.
  let error: SessionError
  /// The generation of each value that was sent, by name, where the store may have written it.
  var sent: [String: Int] = [:]

  /// Returns the error that tells one request the outcome of its own changes.
  ///
  /// - Parameter changes: the changes of the request, which are not all saved.
  func error(for changes: RequestChanges) -> SessionError {
    if changes.areSavedInPart {
      return .outcomeUnknown("another request has saved a part of the changes, and the rest failed: \(error)")
    }
    switch error {
    case .outcomeUnknown(let reason) where !changes.areIn(sent): return .unavailable(reason)
    case .notEncodable(let name, _) where !changes.contain(name): return .conflict([name])
    default: return error
    }
  }
}
