import BeansReflection
public import Synchronization

/// Where in an object a key path ends, once that is known.
///
/// Each write through a key path allocates an object that holds what is written to. But a key path shows where it ends
/// when it is followed: a stored property that nobody can override or observe is changed in the object itself, everything
/// else in a copy that is written back. So the first write tells; from then on a stored property is stored to directly.
@usableFromInline
final class PathPlace: Sendable {
  /// From the start of an instance; 0 while that is not known, -1 where the path does not end in one of its properties.
  @usableFromInline let offset = Atomic(0)

  @usableFromInline init() {}

  /// Sets the property where its place is known; false otherwise.
  @inlinable @inline(__always)
  func store<Value>(_ value: Value, in object: AnyObject) -> Bool {
    let offset = offset.load(ordering: .relaxed)
    if offset <= 0 { return false }
    let property = unsafe (Unmanaged.passUnretained(object).toOpaque() + offset).assumingMemoryBound(to: Value.self)
    // The old value is destroyed last: what its `deinit` calls may read the property.
    let old = unsafe property.move()
    unsafe property.initialize(to: value)
    withExtendedLifetime(old) {}
    return true
  }

  /// Sets what a path leads to, and learns where that is.
  @inlinable
  func store<Value>(_ value: Value, at path: AnyKeyPath, _ property: inout Value, of object: AnyObject) {
    unsafe withUnsafeMutablePointer(to: &property) {
      unsafe $0.pointee = value
      if offset.load(ordering: .relaxed) == 0 { unsafe learn(UnsafeRawPointer($0), path, of: object) }
    }
  }

  /// Keeps a place if it is that of a stored property, and the path names that and nothing on the way to it, which might
  /// only now lead back to the object.
  @usableFromInline @inline(never)
  func learn(_ place: UnsafeRawPointer, _ path: AnyKeyPath, of object: AnyObject) {
    let (root, value) = (type(of: path).rootType, type(of: path).valueType)
    let distance = unsafe place - UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    let isStored = TypeRelation.classes(of: type(of: object)).contains { owner in
      StoredField.declared(by: owner).contains {
        $0.offset == distance && $0.type == value && "\(path)" == "\\\(root).\($0.name)"
      }
    }
    offset.store(isStored ? distance : -1, ordering: .relaxed)
  }
}
