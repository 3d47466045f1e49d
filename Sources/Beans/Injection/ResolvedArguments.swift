import Synchronization

/// Arguments that do not all stand where a plan can tell: resolved one by one, and written down for one call or for many.
struct ResolvedArguments {
  let places: UnsafeMutablePointer<ArgumentPlace>
  /// Words as slots are, because that is what arguments are read from. Nothing else is made of them.
  let objects: UnsafeMutablePointer<Slot>

  private static var stride: Int { MemoryLayout<ArgumentPlace>.stride + MemoryLayout<Slot>.stride }

  /// In memory for so many.
  private init(_ memory: UnsafeMutableRawPointer, _ count: Int) {
    places = memory.bindMemory(to: ArgumentPlace.self, capacity: count)
    objects = UnsafeMutableRawPointer(places + count).bindMemory(to: Slot.self, capacity: count)
  }

  /// On the stack; for a few, without asking how much of that is left.
  @inline(__always)
  static func with<R>(_ count: Int, _ body: (ResolvedArguments) throws -> R) rethrows -> R {
    try count <= 8 ? onStack(8, body) : withMany(count, body)
  }

  @inline(never)
  private static func withMany<R>(_ count: Int, _ body: (ResolvedArguments) throws -> R) rethrows -> R {
    try onStack(count, body)
  }

  @inline(__always)
  private static func onStack<R>(_ count: Int, _ body: (ResolvedArguments) throws -> R) rethrows -> R {
    try withUnsafeTemporaryAllocation(byteCount: count * stride, alignment: MemoryLayout<UInt>.alignment) {
      // There is room for some.
      try body(ResolvedArguments($0.baseAddress.unsafelyUnwrapped, count))
    }
  }

  /// Writes down so many, each owned or held by somebody else; where one cannot be had, the others are given back.
  @inline(__always)
  func resolve(_ count: Int, _ argument: (Int) throws -> Argument) rethrows {
    var resolved = 0
    do {
      while resolved < count {
        self[resolved] = try argument(resolved)
        resolved += 1
      }
    } catch {
      for index in 0..<resolved { self[index].release() }
      throw error
    }
  }

  @inline(__always)
  subscript(index: Int) -> Argument {
    get { Argument(object: objects[index].object, rest: places[index].rest) }
    nonmutating set {
      let place =
        newValue.isOwned
        ? ArgumentPlace(own: index, rest: newValue.rest) : ArgumentPlace(at: objects + index, rest: newValue.rest)
      (places + index).initialize(to: place)
      (objects + index).initialize(to: Slot())
      objects[index].word.store(UInt(bitPattern: newValue.object), ordering: .relaxed)
    }
  }
}

/// The same for many calls, to be deallocated by whoever keeps it: each takes the arguments, none of them for good.
extension ResolvedArguments {
  init(keeping arguments: ResolvedArguments, _ count: Int) {
    // Never empty, so that there is an address.
    self.init(
      .allocate(byteCount: max(count, 1) * Self.stride, alignment: MemoryLayout<UInt>.alignment), max(count, 1))
    for index in 0..<count {
      let argument = arguments[index]
      if let object = argument.object { _ = Unmanaged<AnyObject>.fromOpaque(object).retain() }
      self[index] = Argument(object: argument.object, rest: argument.rest & ~1)
    }
  }

  /// The address of what is kept, and back.
  var address: UnsafeMutablePointer<ArgumentPlace> { places }

  init(at address: UnsafeMutablePointer<ArgumentPlace>, _ count: Int) {
    self.init(UnsafeMutableRawPointer(address), max(count, 1))
  }

  func deallocate(_ count: Int) {
    for index in 0..<count {
      if let object = objects[index].object { Unmanaged<AnyObject>.fromOpaque(object).release() }
    }
    places.deallocate()
  }
}
