@_spi(BeansPackage) import BeansSupport

/// A list of objects that belong to other declarations.
final class FaceList: Sendable {
  private struct Entry {
    weak var object: AnyObject?
  }

  private let entries = Locked<Carried<[Entry]>>(Carried(value: []))

  func add(_ object: AnyObject) {
    let entry = Carried(value: Entry(object: object))
    entries.withLock { entries in
      entries.value.removeAll { $0.object == nil }
      entries.value.append(entry.value)
    }
  }

  /// Removes an object; returns false if it is not in the list.
  func remove(_ object: AnyObject) -> Bool {
    let object = Carried(value: object)
    return entries.withLock { entries in
      guard let index = entries.value.firstIndex(where: { $0.object === object.value }) else { return false }
      entries.value.remove(at: index)
      return true
    }
  }
}
