/// Parameters that are not resolved by their type, by index. There are few of them, so that a list is enough.
struct PinnedArguments {
  struct Pinned {
    let index: Int
    fileprivate(set) var value: BeanValue
    fileprivate var isReference = false
    /// Of the id of a bean.
    fileprivate var hash: UInt32 = 0

    fileprivate init(index: Int, value: consuming BeanValue) {
      self.index = index
      if case .reference(let id) = value {
        isReference = true
        hash = IdKey(id).hash
      }
      self.value = value
    }
  }

  /// In the order of the parameters.
  private(set) var all: [Pinned] = []
  /// Whether all of them are ids of beans: nothing is declared in place, and there is no value to settle.
  private(set) var areReferences = true

  init() {}

  init(only value: BeanValue?) {
    if let value { set(0, value) }
  }

  var isEmpty: Bool { all.isEmpty }

  /// Makes room for that many.
  mutating func reserve(_ count: Int) { all.reserveCapacity(count) }

  subscript(index: Int) -> BeanValue? { position(of: index).map { all[$0].value } }

  /// The id of the bean that a parameter is.
  func id(at index: Int) -> IdKey? {
    guard let position = position(of: index), case .reference(let id) = all[position].value else { return nil }
    return IdKey(id, hash: all[position].hash)
  }

  private func position(of index: Int) -> Int? {
    // In place: what a loop would copy of each element costs more than the search.
    all.withUnsafeBufferPointer { all in
      guard var next = all.baseAddress else { return nil }
      let end = next + all.count
      while next < end, next.pointee.index != index { next += 1 }
      return next < end ? all.count - (end - next) : nil
    }
  }

  /// Calls `body` with what the ids of beans are hashed to; see `IdKey`.
  @inline(__always)
  func forEachIdHash(_ body: (UInt32) -> Void) {
    all.withUnsafeBufferPointer { all in
      for index in all.indices where all[index].isReference { body(all[index].hash) }
    }
  }

  /// The indices from `count` on, which a factory with so many parameters does not have, and those below 0.
  func indices(beyond count: Int) -> [Int] {
    // In order, so that the first and the last tell whether there are any.
    if all.isEmpty || all[0].index >= 0 && all[all.count - 1].index < count { return [] }
    return all.map(\.index).filter { $0 < 0 || $0 >= count }
  }

  /// The last word on a parameter counts.
  mutating func set(_ index: Int, _ value: consuming BeanValue) {
    if case .reference = value {} else { areReferences = false }
    // Usually they are given in order.
    var position = all.endIndex
    while position > 0, all[position - 1].index >= index { position -= 1 }
    if position == all.endIndex {
      all.append(Pinned(index: index, value: value))
    } else if all[position].index == index {
      all[position] = Pinned(index: index, value: value)
    } else {
      all.insert(Pinned(index: index, value: value), at: position)
    }
  }

  /// Takes over what is not pinned here.
  mutating func inherit(_ outer: PinnedArguments) {
    if isEmpty { return self = outer }
    for pinned in outer.all where self[pinned.index] == nil { set(pinned.index, pinned.value) }
  }
}
