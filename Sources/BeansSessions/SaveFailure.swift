/// A failed save of an open session. It affects each request inside with changes that no earlier save has written.
struct SaveFailure {
  /// The error of the store.
  let error: SessionError
  /// The generation of each value that was sent, by name, where the store may have written the value.
  var sent: [String: Int] = [:]

  /// Returns the error for one request, according to the outcome of its own changes.
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
