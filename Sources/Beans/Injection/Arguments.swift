public import Synchronization

/// Where one argument of a factory stands: what a plan can settle of it, once for all calls.
@usableFromInline
struct ArgumentPlace {
  /// The address of a word that holds the object, or how far behind the call's own first word that is, in bytes. Both
  /// are multiples of 4, so there is room for what is asked first:
  ///
  ///     0 a class, at an address    1 a class, the call's own, owned    2 other, own    3 other, at an address
  @usableFromInline let word: UInt
  /// That of the argument.
  @usableFromInline let rest: UInt

  /// A place that is the same for all calls. Its argument is not owned.
  init(at address: UnsafeRawPointer, rest: UInt) {
    word = UInt(bitPattern: address) | (rest == 0 ? 0 : 3)
    self.rest = rest
  }

  /// The call's own word of that number.
  init(own index: Int, rest: UInt) {
    word = UInt(bitPattern: index * MemoryLayout<UInt>.stride) | (rest == 1 ? 1 : 2)
    self.rest = rest
  }

  /// Whether the place is a word of the call's own.
  @inlinable @inline(__always)
  var isOwn: Bool { (word &+ 1) & 2 != 0 }

  @inlinable @inline(__always)
  func address(_ own: UInt) -> UInt { (isOwn ? own : 0) &+ word & ~3 }

  /// The slot that is the same for all calls.
  var slot: UnsafePointer<Slot>? { isOwn ? nil : UnsafePointer(bitPattern: address(0)) }

  /// The number of the call's own word, where the argument is owned.
  var owned: Int? { rest & 1 != 0 ? Int(bitPattern: address(0)) / MemoryLayout<UInt>.stride : nil }
}

/// The arguments of one factory call, taken front to back, each once: the call owns those that are owned.
@usableFromInline
struct Arguments {
  @usableFromInline var next: UnsafePointer<ArgumentPlace>
  /// The address of the call's own words.
  @usableFromInline let own: UInt

  /// What stands in slots, of which `own` are those of the environment that builds.
  @inline(__always)
  init(_ first: UnsafePointer<ArgumentPlace>, _ own: UnsafePointer<Slot>) {
    next = first
    self.own = UInt(bitPattern: own)
  }

  init(_ resolved: ResolvedArguments) {
    next = UnsafePointer(resolved.places)
    own = UInt(bitPattern: resolved.objects)
  }

  @inlinable @inline(__always)
  mutating func take<Value>(as type: Value.Type) -> Value {
    let place = next.pointee
    next += 1
    // Nearly always: a class, or an optional of one, and an object as it is. An optional that is nil is not owned.
    if MemoryLayout<Value>.size == MemoryLayout<UnsafeRawPointer?>.size {
      if place.word & 3 == 1 {
        return Argument(object: Self.read(own &+ (place.word &- 1)), rest: 1).takeReference(as: type)
      }
      if place.word & 3 == 0 { return unsafeBitCast(Self.read(place.word), to: type) }
    }
    return takeOther(place, as: type)
  }

  /// Out of line, so that a factory of classes stays short.
  @inlinable @inline(never)
  func takeOther<Value>(_ place: ArgumentPlace, as type: Value.Type) -> Value {
    let argument = Argument(object: Self.read(place.address(own)), rest: place.rest)
    return argument.isOwned ? argument.consume(as: type) : argument.value(as: type)
  }

  /// Of a slot it is known that the bean stands there, and stays for as long as the call lasts. Other threads may look at
  /// it, and try to fill it, which fails.
  @inlinable @inline(__always)
  static func read(_ address: UInt) -> UnsafeRawPointer? {
    // No place is at 0.
    let word = UnsafePointer<Atomic<UInt>>(bitPattern: address).unsafelyUnwrapped
    return UnsafeRawPointer(bitPattern: word.pointee.load(ordering: .relaxed))
  }
}
