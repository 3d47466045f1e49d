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
  /// The wanted type is an `AssembledType`, and the object is `CollectedObjects`.
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

  /// Stores the value as the next element of a tuple. Consumes the reference to the object.
  @inline(__always)
  func store(_ object: ObjectReference, in memory: inout TupleMemory) {
    switch self {
    case .reference: memory.append(object)
    case .existential(let layout): layout.with { $0.store(object, in: &memory) }
    case .boxed, .assembled:
      Unretained<Box>(object).with { $0.store(in: &memory) }
      object.release()
    }
  }

  @usableFromInline @inline(never)
  func storeOther(_ object: ObjectReference, in memory: inout TupleMemory) { store(object, in: &memory) }

  @inlinable @inline(never)
  func takeOther<Value>(_ object: ObjectReference, as type: Value.Type) -> Value {
    if case .boxed = self {
      defer { object.release() }
      return Unretained<ValueBox<Value>>(object).with { $0.value }
    }
    return TupleMemory.tuple(of: type) { storeOther(object, in: &$0) }
  }
}

/// The arguments of one call of a factory, which takes them once, in order, before it runs.
///
/// The builder has ensured that every argument exists, so taking one cannot fail.
@usableFromInline
struct Arguments {
  @usableFromInline let next: FrozenReference<Operand>
  @usableFromInline let slots: Slots
  /// The objects of computed operands, at the position of the operand.
  @usableFromInline let computed: FrozenReference<ObjectReference?>

  @inline(__always)
  init(_ operands: FrozenSlice<Operand>, _ slots: Slots) {
    // The objects are never read, since no operand is computed.
    self.init(operands.first, slots, FrozenReference(operands.first.erased))
  }

  @inlinable @inline(__always)
  init(_ next: FrozenReference<Operand>, _ slots: Slots, _ computed: FrozenReference<ObjectReference?>) {
    (self.next, self.slots, self.computed) = (next, slots, computed)
  }

  /// Takes all arguments, as a tuple.
  ///
  /// The loop over the types of the pack touches no value of such a type: the compiler knows only the type of the tuple
  /// where it inlines this.
  @inlinable @inline(__always)
  func take<each Value>(as types: repeat (each Value).Type) -> (repeat each Value) {
    var count = 0
    repeat count += (each types, 1).1
    return TupleMemory.tuple(of: (repeat each Value).self) { memory in
      var rest = self
      // Most arguments are of a class or an optional of one.
      while count > 0, let object = rest.nextObject {
        memory.append(object)
        rest = rest.withoutFirst
        count -= 1
      }
      if count > 0 { memory = rest.store(count, in: memory) }
    }
  }

  /// The object of the next argument, retained for the caller, where it is the value.
  @inlinable @inline(__always)
  var nextObject: ObjectReference? {
    if case .counted(let slot) = next.value.place { return slots[slot].content.object }
    if case .outer(let slot) = next.value.place, next.value.reading.isReference { return slot.content.object.copy }
    return nil
  }

  /// The arguments after the next one.
  @inlinable @inline(__always)
  var withoutFirst: Arguments { Arguments(next.advanced(by: 1), slots, computed.advanced(by: 1)) }

  /// Stores so many arguments, and returns the memory after them. Out of line, so that a factory of classes stays short.
  @usableFromInline @inline(never)
  func store(_ count: Int, in memory: TupleMemory) -> TupleMemory {
    var (rest, memory) = (self, memory)
    for _ in 0..<count {
      let reading = rest.next.value.reading
      switch rest.next.value.place {
      case .counted(let slot): memory.append(slots[slot].content.object)
      case .own(let slot): reading.store(slots[slot].content.object.copy, in: &memory)
      case .outer(let slot): reading.store(slot.content.object.copy, in: &memory)
      case .computed:
        // No object: the argument is an optional of a class, and nil. Any other absent value is in a box.
        let object = rest.computed.value
        if let object { reading.store(object, in: &memory) } else { memory.append(ObjectReference?.none) }
      }
      rest = rest.withoutFirst
    }
    return memory
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
