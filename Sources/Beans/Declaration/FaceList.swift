@_spi(BeansPackage) import BeansSupport

/// A list of objects that belong to other declarations.
final class FaceList: Sendable {
  private struct Entry {
    weak var object: AnyObject?
  }

  private let entries = Locked<[Entry]>([])

  func add(_ object: AnyObject) {
    let object = ObjectReference(object)
    defer { object.release() }
    entries.withLock { entries in
      entries.removeAll { $0.object == nil }
      entries.append(Entry(object: object.object))
    }
  }

  /// Removes an object; returns false if it is not in the list.
  func remove(_ object: AnyObject) -> Bool {
    let identity = ObjectIdentifier(object)
    return entries.withLock { entries in
      let index = entries.firstIndex { $0.object.map { ObjectIdentifier($0) } == identity }
      guard let index else { return false }
      entries.remove(at: index)
      return true
    }
  }
}
