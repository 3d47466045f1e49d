import CBeansRuntime

/// Reads and writes one stored property in the memory of an instance.
///
/// Whoever calls has settled that the object is an instance of the class that declares the property. Neither is
/// synchronised with anything: it is what `object.property = value` is, without the property's observers.
package class FieldAccess: @unchecked Sendable {  // immutable
  let offset: Int

  fileprivate init(_ offset: Int) { self.offset = offset }

  func read(_ object: AnyObject) -> Any? { nil }
  /// Whether the value is of the property's type, and so has been stored.
  func write(_ object: AnyObject, _ value: Any?) -> Bool { false }
  /// Whether `write` would store the value.
  func accepts(_ value: Any?) -> Bool { false }

  /// The property, where its memory is one strong reference.
  package var reference: ReferenceField? { nil }

  /// The access to a property without an obstacle.
  static func to(_ field: StoredField, of type: Any.Type) -> FieldAccess {
    func direct<Value>(_ type: Value.Type) -> FieldAccess { DirectAccess<Value>(field.offset, .plain) }
    return (type as? any OptionalType.Type)?.access(to: field) ?? direct(type)
  }
}

/// Access to a property of a known declared type.
package class TypedAccess<Value>: FieldAccess, @unchecked Sendable {  // immutable
  private let conversion: FieldConversion<Value>

  init(_ offset: Int, _ conversion: FieldConversion<Value>) {
    self.conversion = conversion
    super.init(offset)
  }

  /// The value; nil where a `lazy` property has none yet.
  package func load(_ object: AnyObject) -> Value? { nil }
  package func store(_ object: AnyObject, _ value: Value) {}

  override final func read(_ object: AnyObject) -> Any? { load(object).flatMap(conversion.open) }

  override final func write(_ object: AnyObject, _ value: Any?) -> Bool {
    guard let value = conversion.fit(value) else { return false }
    store(object, value)
    return true
  }

  override final func accepts(_ value: Any?) -> Bool { conversion.fit(value) != nil }

  /// Runs `body` with the property's memory, the object held meanwhile.
  fileprivate final func withMemory<Stored, Result>(
    of object: AnyObject, as type: Stored.Type, _ body: (UnsafeMutablePointer<Stored>) -> Result
  ) -> Result {
    withExtendedLifetime(object) {
      let base = unsafe UnsafeMutableRawPointer(Unmanaged.passUnretained(object).toOpaque())
      return unsafe body((base + offset).assumingMemoryBound(to: Stored.self))
    }
  }

  /// The old value is destroyed last: what its `deinit` calls may read the property.
  fileprivate final func replace<Stored>(_ memory: UnsafeMutablePointer<Stored>, with value: Stored) {
    let old = unsafe memory.move()
    unsafe memory.initialize(to: value)
    withExtendedLifetime(old) {}
  }
}

/// A property that holds its value itself.
final class DirectAccess<Value>: TypedAccess<Value>, @unchecked Sendable {
  override package func load(_ object: AnyObject) -> Value? {
    unsafe withMemory(of: object, as: Value.self) { unsafe $0.pointee }
  }

  override package func store(_ object: AnyObject, _ value: Value) {
    unsafe withMemory(of: object, as: Value.self) { unsafe replace($0, with: value) }
  }

  override package var reference: ReferenceField? {
    let type = (Value.self as? any OptionalType.Type)?.wrappedType ?? Value.self
    return unsafe type is AnyObject.Type && MemoryLayout<Value>.size == MemoryLayout<UnsafeRawPointer>.size
      ? ReferenceField(offset: offset) : nil
  }
}

/// A `lazy` property, stored as an optional that is nil until somebody reads it.
final class LazyAccess<Value>: TypedAccess<Value>, @unchecked Sendable {
  override package func load(_ object: AnyObject) -> Value? {
    unsafe withMemory(of: object, as: Value?.self) { unsafe $0.pointee }
  }

  override package func store(_ object: AnyObject, _ value: Value) {
    unsafe withMemory(of: object, as: Value?.self) { unsafe replace($0, with: value) }
  }
}

/// A `weak` property: the runtime's weak reference, and behind it the witness tables of a protocol type, as they stand
/// behind the reference of a strong one.
final class WeakAccess<Wrapped>: TypedAccess<Wrapped?>, @unchecked Sendable {
  private static var tables: Int { unsafe MemoryLayout<Wrapped?>.size - MemoryLayout<UnsafeRawPointer>.size }

  override package func load(_ object: AnyObject) -> Wrapped?? {
    unsafe withMemory(of: object, as: UnsafeMutableRawPointer?.self) { reference in
      guard let target = unsafe swift_weakLoadStrong(reference) else { return .some(nil) }
      return unsafe withUnsafeTemporaryAllocation(
        byteCount: MemoryLayout<Wrapped?>.size, alignment: MemoryLayout<Wrapped?>.alignment
      ) { strong in
        unsafe strong.storeBytes(of: target, as: UnsafeMutableRawPointer.self)
        unsafe copyTables(from: UnsafeRawPointer(reference), to: strong.baseAddress)
        // Takes over the reference that loading has counted.
        return unsafe strong.assumingMemoryBound(to: Wrapped?.self).baseAddress.map { unsafe $0.move() }
      }
    }
  }

  override package func store(_ object: AnyObject, _ value: Wrapped?) {
    unsafe withMemory(of: object, as: UnsafeMutableRawPointer?.self) { reference in
      unsafe withUnsafeBytes(of: value) { strong in
        unsafe swift_weakAssign(reference, strong.load(as: UnsafeMutableRawPointer?.self))
        unsafe copyTables(from: strong.baseAddress, to: UnsafeMutableRawPointer(reference))
      }
    }
  }

  private func copyTables(from source: UnsafeRawPointer?, to target: UnsafeMutableRawPointer?) {
    let word = unsafe MemoryLayout<UnsafeRawPointer>.size
    guard let source = unsafe source, let target = unsafe target, Self.tables > 0 else { return }
    unsafe (target + word).copyMemory(from: source + word, byteCount: Self.tables)
  }
}
