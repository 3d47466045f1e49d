/// How an instance of one class becomes a value of one protocol type: what stands beside the reference in it.
///
/// A cast would find that out anew for every lookup and every argument. The plan finds it out once: the layout of
/// existentials (three words for the value, or one where only classes are allowed, then the class's metadata unless it
/// is in the object, then a witness table for each protocol) is part of the stable runtime interface.
@usableFromInline
final class ExistentialForm: Sendable {
  /// The class whose instances have it; those of subclasses have metadata of their own.
  let identity: UInt
  /// In bytes: where `words` go.
  @usableFromInline let offset: Int
  @usableFromInline let count: Int
  // Never written after `init`.
  @usableFromInline nonisolated(unsafe) let words: UnsafeMutablePointer<UnsafeRawPointer>

  /// nil where `type` is no protocol type that is made like this, or the class does not conform.
  init?(_ type: Any.Type, for identity: ObjectIdentifier) {
    let metadata = UnsafeRawPointer(bitPattern: UInt(bitPattern: identity))
    guard let metadata, let shape = TypeRelation.shape(of: type, for: metadata) else { return nil }
    self.identity = UInt(bitPattern: identity)
    let content = (shape.isClassBound ? [] : [metadata]) + shape.witnesses
    offset = (shape.isClassBound ? 1 : 3) * MemoryLayout<UnsafeRawPointer>.size
    count = content.count
    words = .allocate(capacity: max(count, 1))
    for (index, word) in content.enumerated() { (words + index).initialize(to: word) }
  }

  deinit { words.deallocate() }

  @inline(__always)
  func fits(_ object: UnsafeRawPointer) -> Bool { object.load(as: UInt.self) == identity }

  /// The value for an object of that class.
  func value<Value>(of object: AnyObject, as type: Value.Type) -> Value {
    value(Unmanaged.passRetained(object).toOpaque(), as: type)
  }

  /// The same, taking over a reference.
  @inlinable @inline(__always)
  func value<Value>(_ object: UnsafeRawPointer, as type: Value.Type) -> Value {
    if MemoryLayout<Value>.size == 2 * MemoryLayout<UnsafeRawPointer>.size {
      // One protocol, for classes only.
      let object = Unmanaged<AnyObject>.fromOpaque(object).takeRetainedValue()
      return unsafeBitCast((object, words.pointee), to: Value.self)
    }
    return withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { buffer in
      // One element was asked for.
      let value = buffer.baseAddress.unsafelyUnwrapped
      let raw = UnsafeMutableRawPointer(value)
      raw.storeBytes(of: object, as: UnsafeRawPointer.self)
      for index in 0..<count {
        raw.storeBytes(
          of: words[index], toByteOffset: offset + index * MemoryLayout<UnsafeRawPointer>.size,
          as: UnsafeRawPointer.self)
      }
      return value.move()
    }
  }
}
