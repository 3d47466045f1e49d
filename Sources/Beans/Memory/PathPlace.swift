import BeansReflection
public import Synchronization

/// The place in an object at which a key path ends, once it is known.
///
/// Each write through a key path allocates an object that holds the target of the write. But the address passed to the
/// write shows where the path ends: a stored property that cannot be overridden or observed is changed in the object
/// itself, any other property in a copy that is written back. So the first write finds the place, and later writes
/// store directly to a stored property.
@usableFromInline
final class PathPlace: Sendable {
  /// The offset in bytes from the start of an instance; 0 while unknown, -1 if the path does not end in a stored
  /// property of the instance.
  @usableFromInline let offset = Atomic(0)

  @usableFromInline init() {}

  /// Sets the property if its place is known. Returns false otherwise.
  @inlinable @inline(__always)
  func store<Value>(_ value: Value, in object: AnyObject) -> Bool {
    let offset = offset.load(ordering: .relaxed)
    if offset <= 0 { return false }
    StoredMemory.replace(at: offset, of: object, by: value)
    return true
  }

  /// Sets the property at the end of a path, and records its place.
  @inlinable
  func store<Value>(_ value: Value, at path: AnyKeyPath, _ property: inout Value, of object: AnyObject) {
    property = value
    if offset.load(ordering: .relaxed) == 0 { learn(StoredMemory.offset(of: &property, in: object), path, of: object) }
  }

  /// Records a place if it is that of a stored property and the path names just that property. A longer path may lead
  /// back to the object only this time.
  @usableFromInline @inline(never)
  func learn(_ distance: Int, _ path: AnyKeyPath, of object: AnyObject) {
    let (root, value) = (type(of: path).rootType, type(of: path).valueType)
    let isStored = ClassHierarchy.classes(of: type(of: object)).contains { owner in
      StoredField.declared(by: owner).contains {
        $0.offset == distance && $0.type == value && "\(path)" == "\\\(root).\($0.name)"
      }
    }
    offset.store(isStored ? distance : -1, ordering: .relaxed)
  }
}
