/// The source of one argument, property or lookup. The only encoding of that.
@usableFromInline
struct Operand: Sendable {
  @usableFromInline
  enum Place: Sendable {
    /// A slot of the environment in which the bean is built. The step that filled the slot has retained the object once
    /// for this operand; the object is the value.
    case counted(slot: Int32)
    /// A slot of the environment in which the bean is built.
    case own(slot: Int32)
    /// A slot of an environment further out that is no child of a factory.
    case outer(Slot)
    /// The index of an entry in the plan's list of computations.
    case computed(Int32)
  }

  @usableFromInline let place: Place
  @usableFromInline let reading: Reading

  init(_ place: Place, _ reading: Reading) { (self.place, self.reading) = (place, reading) }
}

/// The conversion from an object to a value of the wanted type. One word: a layout is an unretained reference, which
/// leaves room for the other cases.
@usableFromInline
enum Reading: Sendable {
  /// The wanted type is a class or an optional of one: the object is the value.
  case reference
  /// The object is a box of exactly the wanted type.
  case boxed
  /// The wanted type is an `AssembledType`: the value is made from the object where it is taken.
  case assembled
  /// The wanted type is a protocol type. The object is an instance of the layout's class, or of a subclass.
  case existential(Unretained<ExistentialLayout>)

  init(_ layout: ExistentialLayout) { self = .existential(Unretained(layout)) }

  @inlinable @inline(__always)
  var isReference: Bool { if case .reference = self { true } else { false } }

  /// Returns the value. Consumes the reference to the object.
  @inlinable @inline(__always)
  func take<Value>(_ object: ObjectReference, as type: Value.Type) -> Value {
    if MemoryLayout<Value>.size == MemoryLayout<UInt>.size, isReference { return object.take(as: type) }
    if MemoryLayout<Value>.size == 2 * MemoryLayout<UInt>.size, case .existential(let layout) = self {
      if layout.with({ $0.fits(object) }) { return layout.with { $0.value(object, as: type) } }
    }
    return takeOther(object, as: type)
  }

  @inlinable @inline(never)
  func takeOther<Value>(_ object: ObjectReference, as type: Value.Type) -> Value {
    if case .existential(let layout) = self {
      return layout.with { if $0.fits(object) { $0.value(object, as: type) } else { object.cast(to: type) } }
    }
    defer { object.release() }
    if case .assembled = self, let type = type as? any AssembledType.Type {
      func assemble<Assembled: AssembledType>(_ type: Assembled.Type) -> Value {
        uncheckedCast(type.assemble(object.copy(as: AnyObject.self)), to: Value.self)
      }
      return assemble(type)
    }
    return Unretained<ValueBox<Value>>(object).with { $0.value }
  }
}

/// The arguments of one call of a factory, taken in order, each once.
///
/// The builder has ensured that every argument exists, so taking one cannot fail. A factory takes all of them before it
/// runs.
@usableFromInline
struct Arguments {
  @usableFromInline var next: FrozenReference<Operand>
  @usableFromInline let slots: Slots
  /// The objects of computed operands, at the position of the operand.
  @usableFromInline var computed: FrozenReference<ObjectReference?>

  @inline(__always)
  init(_ operands: FrozenSlice<Operand>, _ slots: Slots) {
    // The objects are never read, since no operand is computed.
    self.init(operands, slots, FrozenReference(operands.first.erased))
  }

  @inline(__always)
  init(_ operands: FrozenSlice<Operand>, _ slots: Slots, _ computed: FrozenReference<ObjectReference?>) {
    (next, self.slots, self.computed) = (operands.first, slots, computed)
  }

  @inlinable @inline(__always)
  mutating func take<Value>(as type: Value.Type) -> Value {
    let (operand, object) = (next, computed)
    next = next.advanced(by: 1)
    computed = computed.advanced(by: 1)
    // Most arguments are of a class or an optional of one.
    if MemoryLayout<Value>.size == MemoryLayout<UInt>.size {
      if case .counted(let slot) = operand.value.place { return slots[slot].content.object.take(as: type) }
      if case .outer(let slot) = operand.value.place, operand.value.reading.isReference {
        return slot.content.object.copy(as: type)
      }
    }
    return takeOther(operand, object, as: type)
  }

  /// Takes an argument that is not on the fast path. Out of line, so that a factory of classes stays short.
  @inlinable @inline(never)
  func takeOther<Value>(
    _ operand: FrozenReference<Operand>, _ computed: FrozenReference<ObjectReference?>, as type: Value.Type
  ) -> Value {
    let reading = operand.value.reading
    switch operand.value.place {
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
      // No object: the argument is an optional of a class, and nil. Any other absent value is in a box.
      guard let object = computed.value else { return uncheckedCast(AnyObject?.none, to: type) }
      return reading.take(object, as: type)
    }
  }
}

/// One evaluated argument: an owned reference to an object, and the conversion to the value.
@usableFromInline
struct Argument {
  /// The object; nil for an optional of a class that is nil.
  @usableFromInline let object: ObjectReference?
  @usableFromInline let reading: Reading

  @inlinable @inline(__always)
  init(_ object: ObjectReference?, _ reading: Reading) { (self.object, self.reading) = (object, reading) }

  init(_ object: AnyObject, _ reading: Reading) { self.init(ObjectReference(object), reading) }

  /// An argument without an object: an optional of a class that is nil.
  @inlinable static var none: Argument { Argument(nil, .reference) }

  /// Returns the value. Consumes the argument's reference.
  @inlinable @inline(__always)
  func take<Value>(as type: Value.Type) -> Value {
    guard let object else { return uncheckedCast(AnyObject?.none, to: type) }
    return reading.take(object, as: type)
  }
}

extension ObjectReference? {
  /// Returns the bean as `Any`, which contains nil if there is no object. Consumes the reference.
  func takeAny() -> Any {
    guard let self else { return AnyObject?.none as Any }
    defer { self.release() }
    return Box.open(self.object)
  }
}
