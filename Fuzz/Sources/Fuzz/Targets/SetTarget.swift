import Beans
import Synchronization

/// `PropertyDescriptor.set` and `get`: any value into any property, of the right object or not; and descriptors by name.
struct SetTarget: FuzzTarget {
  let expected: [(outcome: String, share: Double)] = [
    ("stored", 0.05), ("typeMismatch", 0.05), ("invalidDeclaration", 0.02), ("by name", 0.01),
  ]

  private let properties: [PropertyDescriptor]
  private let names: [String]
  private static let count = 8

  init() throws {
    properties = try BeanDescriptor.forClass(Everything.self).getProperties()
    names = properties.map { $0.getName() }
  }

  /// A few sets, one after the other on one object; eight bytes are one.
  func makeInput(_ random: inout RandomNumbers) -> [UInt8] {
    if random.once(in: 20) {
      let mutation = Mutation(words: names, others: names)
      return [0xFF] + mutation.apply(to: Array(random.pick(names).utf8), times: random.below(3), &random)
    }
    return [0] + (0..<Self.count * 8).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  func run(_ input: [UInt8]) throws -> String {
    if input.first == 0xFF { return try find(String(decoding: input.dropFirst(), as: UTF8.self)) }
    let outcome = try sets(Array(input.dropFirst()))
    if Probe.alive != 0 { throw Broken(description: "\(Probe.alive) objects live longer than what held them") }
    return outcome
  }

  private func sets(_ input: [UInt8]) throws -> String {
    var bytes = ByteReader(input)
    var kept: [AnyObject] = []
    let owner = Animal(name: "owner")
    let target = Everything(owner: owner)
    var outcome = "nothing"
    while !bytes.isAtEnd {
      let index = bytes.below(properties.count)
      let property = properties[index], neighbour = properties[(index + 1) % properties.count]
      let isWrong = bytes.byte() == 0
      let value = PropertyValues.make(Int(bytes.byte()) % PropertyValues.kinds, &bytes) { kept.append($0) }
      let before = try? property.get(target), beside = try? neighbour.get(target)
      do {
        try property.set(isWrong ? Stone() : target, value: value)
        try check(!isWrong && PropertyValues.areSame(try property.get(target), value), property, value)
        outcome = "stored"
      } catch let error as EnvironmentError {
        let isExpected = error.code == .typeMismatch || error.code == .invalidDeclaration
        try check(isExpected && PropertyValues.areSame(try? property.get(target), before), property, value)
        if outcome != "stored" { outcome = "\(error.code)" }
      }
      try check(PropertyValues.areSame(try? neighbour.get(target), beside), neighbour, value)
    }
    try check(
      target.constant == 5 && target.closure(6) == 6 && target.unique.number == 1 && target.owner === owner
        && target.unsafeOwner === owner && target.mutex.withLock { $0 } == 1, properties[0], nil)
    return outcome
  }

  private func find(_ name: String) throws -> String {
    do {
      let property = try BeanDescriptor.forClass(Everything.self).getProperty(name)
      try check(property.getName() == name, property, name)
    } catch let error as EnvironmentError where error.code == .unknownProperty && !names.contains(name) {
      return "by name: \(error.code)"
    }
    return "by name"
  }

  private func check(_ holds: Bool, _ property: PropertyDescriptor, _ value: Any?) throws {
    if !holds { throw Broken(description: "\(property.getName()) and \(String(describing: value))") }
  }
}
