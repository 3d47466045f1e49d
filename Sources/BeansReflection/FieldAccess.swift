import CBeansRuntime

/// Reads and writes one stored property in the memory of an instance.
///
/// The caller ensures that the object is an instance of the class that declares the property. Neither access is
/// synchronised: they are equivalent to `object.property = value` and its counterpart, without the property's
/// observers.
package class FieldAccess: @unchecked Sendable {  // immutable
  let offset: Int

  fileprivate init(_ offset: Int) { self.offset = offset }

  func read(_ object: AnyObject) -> Any? { nil }
  /// Stores the value. Returns false, without a change, if the value does not have the property's type.
  func write(_ object: AnyObject, _ value: Any?) -> Bool { false }
  /// Returns whether `write` would store the value.
  func accepts(_ value: Any?) -> Bool { false }

  /// The property as a reference, if its memory is one strong reference.
  package var reference: ReferenceField? { nil }

  /// Returns the access to a property without an obstacle.
  ///
  /// - Parameters:
  ///   - field: the property.
  ///   - type: the type that it is stored as; for a `lazy` property, an optional of the declared type.
  static func to(_ field: StoredField, of type: Any.Type) -> FieldAccess {
    let offset = field.offset
    func direct<Value>(_ type: Value.Type) -> FieldAccess { DirectAccess<Value>(offset, .plain) }
    func direct<Wrapped>(optional type: Wrapped.Type) -> FieldAccess { DirectAccess<Wrapped?>(offset, .optional()) }
    func weak<Wrapped>(optional type: Wrapped.Type) -> FieldAccess { WeakAccess<Wrapped>(offset, .optional()) }
    func lazy<Value>(_ type: Value.Type) -> FieldAccess { LazyAccess<Value>(offset, .plain) }
    func lazy<Wrapped>(optional type: Wrapped.Type) -> FieldAccess { LazyAccess<Wrapped?>(offset, .optional()) }
    func wrapped(_ type: Any.Type) -> Any.Type? { (type as? any OptionalType.Type)?.wrappedType }

    guard let inner = wrapped(type) else { return direct(type) }
    if !field.isLazy { return field.ownership == .weak ? weak(optional: inner) : direct(optional: inner) }
    guard let declared = wrapped(inner) else { return lazy(inner) }
    return lazy(optional: declared)
  }
}

/// Access to a property of a known declared type.
package class TypedAccess<Value>: FieldAccess, @unchecked Sendable {  // immutable
  private let conversion: FieldConversion<Value>

  init(_ offset: Int, _ conversion: FieldConversion<Value>) {
    self.conversion = conversion
    super.init(offset)
  }

  /// Returns the value; nil if a `lazy` property has none yet.
  package func load(_ object: AnyObject) -> Value? { nil }
  package func store(_ object: AnyObject, _ value: Value) {}

  override final func read(_ object: AnyObject) -> Any? { load(object).flatMap(conversion.open) }

  override final func write(_ object: AnyObject, _ value: Any?) -> Bool {
    guard let value = conversion.fit(value) else { return false }
    store(object, value)
    return true
  }

  override final func accepts(_ value: Any?) -> Bool { conversion.fit(value) != nil }

  /// Runs `body` with the property's memory, and retains the object meanwhile.
  fileprivate final func withMemory<Stored, Result>(
    of object: AnyObject, as type: Stored.Type, _ body: (UnsafeMutablePointer<Stored>) -> Result
  ) -> Result {
    withExtendedLifetime(object) {
      let base = unsafe UnsafeMutableRawPointer(Unmanaged.passUnretained(object).toOpaque())
      return unsafe body((base + offset).assumingMemoryBound(to: Stored.self))
    }
  }

  /// Replaces the value, and destroys the old one last: code that its `deinit` calls may read the property.
  fileprivate final func replace<Stored>(_ memory: UnsafeMutablePointer<Stored>, with value: Stored) {
    let old = unsafe memory.move()
    unsafe memory.initialize(to: value)
    withExtendedLifetime(old) {}
  }
}

/// A property that contains its value directly.
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

/// A `lazy` property, stored as an optional that is nil until the first read.
final class LazyAccess<Value>: TypedAccess<Value>, @unchecked Sendable {
  override package func load(_ object: AnyObject) -> Value? {
    unsafe withMemory(of: object, as: Value?.self) { unsafe $0.pointee }
  }

  override package func store(_ object: AnyObject, _ value: Value) {
    unsafe withMemory(of: object, as: Value?.self) { unsafe replace($0, with: value) }
  }
}

/// A `weak` property: the runtime's weak reference, followed by the witness tables of a protocol type, in the same
/// place as behind a strong reference.
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
        // Consumes the reference that loading has retained.
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
