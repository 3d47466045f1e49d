@_spi(BeansPackage) import BeansErrors

/// The changes that one request makes to the values of its session.
///
/// Concurrent requests of a session share its values, and a save by one of them writes the changes of all. These marks
/// determine which changes of one request a store has by now.
final class RequestChanges: Sendable {
  /// The request in which the current task runs.
  @TaskLocal static var current: RequestChanges?

  private struct Mark {
    let value: any KeptValue
    /// The generations of the first and the last change by the request.
    let first: Int
    var last: Int
  }

  private let marks = Locked<[String: Mark]>([:])

  /// Records a change.
  func note(_ value: any KeptValue, _ generation: Int) {
    marks.withLock {
      $0[value.declaration.name, default: Mark(value: value, first: generation, last: generation)].last = generation
    }
  }

  /// Whether the request has changed no value.
  var isEmpty: Bool { marks.withLock { $0.isEmpty } }

  /// Whether the store has all changes.
  var areSaved: Bool { marks.withLock { $0 }.values.allSatisfy { $0.last <= $0.value.savedGeneration } }

  /// Whether the store has at least one change.
  var areSavedInPart: Bool { marks.withLock { $0 }.values.contains { $0.first <= $0.value.savedGeneration } }

  /// Whether the request has changed the value of a name.
  func contain(_ name: String) -> Bool { marks.withLock { $0[name] != nil } }

  /// Whether a save of the given generations, by name, contains at least one change.
  func areIn(_ sent: [String: Int]) -> Bool {
    marks.withLock { $0 }.contains { name, mark in sent[name].map { mark.first <= $0 } ?? false }
  }
}

/// The requests inside an open session.
final class SessionMembers: Sendable {
  private let inside = Locked<[RequestChanges]>([])

  /// Adds a request. A call of `leave(_:)` has to follow.
  func enter() -> RequestChanges {
    let changes = RequestChanges()
    inside.withLock { $0.append(changes) }
    return changes
  }

  /// Removes a request. A later change by its tasks is recorded for the requests that are still inside.
  func leave(_ changes: RequestChanges) { inside.withLock { $0.removeAll { $0 === changes } } }

  /// Records a change of a value for the request of the current task. A change from elsewhere, such as a thread without
  /// a task, may belong to any request inside, and is recorded for each.
  func note(_ value: any KeptValue, _ generation: Int) {
    let current = RequestChanges.current
    inside.withLock { inside in
      if let current, inside.contains(where: { $0 === current }) { return current.note(value, generation) }
      for changes in inside { changes.note(value, generation) }
    }
  }
}
