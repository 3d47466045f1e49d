@_spi(BeansPackage) import BeansSupport

/// The changes that one request makes to the values of its session.
///
/// Several requests that meet share the values, and a save by one of them writes the changes of all. A request finds out here
/// which part of its own changes a store has by now.
final class RequestChanges: Sendable {
  /// The request that the current task runs in.
  @TaskLocal static var current: RequestChanges?

  private struct Mark {
    let value: any KeptValue
    /// The generations of the value that the request made first and last.
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

  /// Whether the request has changed a value.
  var isEmpty: Bool { marks.withLock { $0.isEmpty } }

  /// Whether the store has all changes.
  var areSaved: Bool { marks.withLock { $0 }.values.allSatisfy { $0.last <= $0.value.savedGeneration } }

  /// Whether the store has some change.
  var areSavedInPart: Bool { marks.withLock { $0 }.values.contains { $0.first <= $0.value.savedGeneration } }

  /// Whether the request has changed the value of that name.
  func contain(_ name: String) -> Bool { marks.withLock { $0[name] != nil } }

  /// Whether a save of those generations, by name, contains some change.
  func areIn(_ sent: [String: Int]) -> Bool {
    marks.withLock { $0 }.contains { name, mark in sent[name].map { mark.first <= $0 } ?? false }
  }
}

/// The requests inside of an open session.
final class SessionMembers: Sendable {
  private let inside = Locked<[RequestChanges]>([])

  /// Adds a request; `leave(_:)` has to follow.
  func enter() -> RequestChanges {
    let changes = RequestChanges()
    inside.withLock { $0.append(changes) }
    return changes
  }

  /// Removes a request. A later change by its tasks belongs to the requests that are still inside.
  func leave(_ changes: RequestChanges) { inside.withLock { $0.removeAll { $0 === changes } } }

  /// Records a change of a value, for the request of the current task. A change from elsewhere, such as a thread of no task,
  /// may belong to any request inside, and is recorded for each.
  func note(_ value: any KeptValue, _ generation: Int) {
    let current = RequestChanges.current
    inside.withLock { inside in
      if let current, inside.contains(where: { $0 === current }) { return current.note(value, generation) }
      for changes in inside { changes.note(value, generation) }
    }
  }
}
