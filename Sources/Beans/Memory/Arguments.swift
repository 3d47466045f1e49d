/// Where one argument, property or looked-up bean comes from: the one encoding of that.
@usableFromInline
struct Operand: Sendable {
  @usableFromInline
  enum Place: Sendable {
    /// A slot of the environment that builds, with a count that the step which filled the slot has added for this; the
    /// object is the value.
    case counted(slot: Int32)
    /// A slot of the environment that builds.
    case own(slot: Int32)
    /// A slot of an environment further out that is no child of a factory.
    case outer(Slot)
    /// What an entry of the plan's list of computations says.
    case computed(Int32)
  }

  @usableFromInline let place: Place
  @usableFromInline let reading: Reading

  init(_ place: Place, _ reading: Reading) { (self.place, self.reading) = (place, reading) }
}

/// How a value of the wanted type is read from an object.
@usableFromInline
struct Reading: Sendable {
  /// 0: the object is the value. 1: it is a `ValueBox` of the value. Else the address of an `ExistentialLayout`.
  @usableFromInline let word: UInt

  @inlinable @inline(__always)
  init(word: UInt) { self.word = word }

  /// The wanted type is a class, or an optional of one, and the object an instance.
  @inlinable static var reference: Reading { Reading(word: 0) }

  @inlinable @inline(__always)
  var isReference: Bool { word == 0 }

  /// The object is a box of exactly the wanted type.
  @inlinable static var boxed: Reading { Reading(word: 1) }

  /// The wanted type is a protocol type, the object an instance of the layout's class.
  init(_ layout: ExistentialLayout) { word = unsafe UInt(bitPattern: Unmanaged.passUnretained(layout).toOpaque()) }

  var layout: ExistentialLayout? {
    unsafe word > 1
      ? UnsafeRawPointer(bitPattern: word).map {
        unsafe Unmanaged<ExistentialLayout>.fromOpaque($0).takeUnretainedValue()
      }
      : nil
  }

  /// The value, with the reference's count.
  @inlinable @inline(__always)
  func take<Value>(_ object: ObjectReference, as type: Value.Type) -> Value {
    if word == 0, MemoryLayout<Value>.size == MemoryLayout<UInt>.size { return object.take(as: type) }
    if word > 1, MemoryLayout<Value>.size == 2 * MemoryLayout<UInt>.size {
      let layout = unsafe Unmanaged<ExistentialLayout>.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
      if unsafe layout._withUnsafeGuaranteedRef({ $0.fits(object) }) {
        return unsafe layout._withUnsafeGuaranteedRef { $0.value(object, as: type) }
      }
    }
    return takeOther(object, as: type)
  }

  @inlinable @inline(never)
  func takeOther<Value>(_ object: ObjectReference, as type: Value.Type) -> Value {
    if word > 1 {
      return unsafe Unmanaged<ExistentialLayout>.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
        ._withUnsafeGuaranteedRef { $0.fits(object) ? $0.value(object, as: type) : object.cast(to: type) }
    }
    defer { object.release() }
    return unsafe Unmanaged<ValueBox<Value>>.fromOpaque(object.pointer)._withUnsafeGuaranteedRef { $0.value }
  }
}

/// The arguments of one call of a factory, taken front to back, each once.
///
/// The builder has seen to it that every one of them is there, so taking them cannot fail. A factory takes all of them
/// before it runs.
@usableFromInline
@safe struct Arguments {
  @usableFromInline var next: UnsafePointer<Operand>
  @usableFromInline let slots: Slots
  /// For each operand that is computed, its object.
  @usableFromInline var computed: UnsafePointer<UInt>

  @inline(__always)
  init(_ operands: FrozenSlice<Operand>, _ slots: Slots) {
    unsafe next = unsafe operands.pointer
    self.slots = slots
    // Never read: no operand is computed.
    unsafe computed = unsafe UnsafeRawPointer(operands.pointer).assumingMemoryBound(to: UInt.self)
  }

  @inline(__always)
  init(_ operands: FrozenSlice<Operand>, _ slots: Slots, _ computed: EvaluatedArguments) {
    unsafe next = unsafe operands.pointer
    self.slots = slots
    unsafe self.computed = unsafe computed.first
  }

  @inlinable @inline(__always)
  mutating func take<Value>(as type: Value.Type) -> Value {
    let (operand, object) = unsafe (next, computed)
    unsafe next += 1
    unsafe computed += 1
    // Nearly always a class, or an optional of one.
    if MemoryLayout<Value>.size == MemoryLayout<UInt>.size {
      if case .counted(let slot) = unsafe operand.pointee.place { return slots[slot].content.object.take(as: type) }
      if case .outer(let slot) = unsafe operand.pointee.place, unsafe operand.pointee.reading.isReference {
        return slot.content.object.copy(as: type)
      }
    }
    return unsafe takeOther(operand, object, as: type)
  }

  /// Out of line, so that a factory of classes stays short.
  @inlinable @inline(never)
  func takeOther<Value>(
    _ operand: UnsafePointer<Operand>, _ computed: UnsafePointer<UInt>, as type: Value.Type
  ) -> Value {
    let reading = unsafe operand.pointee.reading
    switch unsafe operand.pointee.place {
    case .counted(let slot): return slots[slot].content.object.take(as: type)
    case .own(let slot):
      let object = slots[slot].content.object
      object.retain()
      return reading.take(object, as: type)
    case .outer(let slot):
      let object = slot.content.object
      object.retain()
      return reading.take(object, as: type)
    case .computed:
      // An optional of a class without a bean; any other absent value stands in a box.
      if unsafe computed.pointee == 0 { return unsafe unsafeBitCast(AnyObject?.none, to: type) }
      return unsafe reading.take(ObjectReference(address: computed.pointee), as: type)
    }
  }
}

/// One argument that has been evaluated: an object with a count, and how to read it.
@usableFromInline
struct Argument {
  /// The address of the object, or 0.
  @usableFromInline let word: UInt
  @usableFromInline let reading: Reading

  @inlinable @inline(__always)
  init(_ object: ObjectReference?, _ reading: Reading) { (word, self.reading) = (object?.address ?? 0, reading) }

  init(_ object: AnyObject, _ reading: Reading) { self.init(ObjectReference(object), reading) }

  /// No object: an optional of a class without a bean.
  @inlinable static var none: Argument { Argument(nil, .reference) }

  /// nil for an optional of a class without a bean.
  @inlinable @inline(__always)
  var object: ObjectReference? { word == 0 ? nil : ObjectReference(address: word) }

  /// The value, with the argument's count.
  @inlinable @inline(__always)
  func take<Value>(as type: Value.Type) -> Value {
    guard let object else { return unsafe unsafeBitCast(AnyObject?.none, to: type) }
    return reading.take(object, as: type)
  }

  /// The value, whatever its type; nil inside where there is no object.
  func takeAny() -> Any {
    guard let object else { return AnyObject?.none as Any }
    defer { object.release() }
    return Box.open(object.object)
  }
}
