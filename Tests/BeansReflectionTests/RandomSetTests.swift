import TestSupport
import BeansErrors
import Testing

@testable import BeansReflection

/// Sets random properties to random values: each set throws and changes nothing, or the value reads back.
@Suite struct RandomSetTests {
  private static let rounds = 100_000

  @Test(arguments: [1, 2, 0x5EED] as [UInt64])
  func everySetThrowsOrReadsBack(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let made = Counter(), gone = Counter()
    do {
      let owner = Kinds.Animal(name: "owner"), target = Kinds.Everything(owner: owner)
      let properties = try BeanDescriptor.forClass(Kinds.Everything.self).getProperties()
      // An object that only weak properties hold would be gone before it is read back.
      var values = RandomValues(made: made, gone: gone)
      var stored = 0
      for _ in 0..<Self.rounds / 3 {
        let index = Int(random.next() % UInt64(properties.count))
        let property = properties[index], neighbour = properties[(index + 1) % properties.count]
        let value = values.next(&random)
        let before = try? property.get(target), beside = try? neighbour.get(target)
        do {
          try property.set(target, value: value)
          stored += 1
          try check(property, areSame(plain(try property.get(target)), plain(value)), seed, value)
        } catch let error as EnvironmentError {
          let isExpected = error.code == .typeMismatch || error.code == .invalidDeclaration
          try check(property, isExpected && areSame(try? property.get(target), before), seed, value)
        }
        try check(neighbour, areSame(try? neighbour.get(target), beside), seed, value)
      }
      #expect(stored > Self.rounds / 100)
      #expect(target.constant == 5 && target.closure(6) == 6 && target.unique.number == 1 && target.owner === owner)
    }
    #expect(made.value > 0)
    #expect(made.value == gone.value)
  }

  private func check(_ property: PropertyDescriptor, _ holds: Bool, _ seed: UInt64, _ value: Any?) throws {
    if !holds { throw Stuck(description: "seed \(seed): \(property.label) = \(String(describing: value))") }
  }

  /// Returns the nil or the value of a property without its optionality.
  private func plain(_ value: Any?) -> Any? {
    var value = value
    while let current = value, let optional = current as? any OptionalType { value = optional.wrappedValue }
    return value
  }
}

/// Values of all types that properties have, and of some that none has.
private struct RandomValues {
  let made: Counter
  let gone: Counter
  private var kept: [AnyObject] = []

  init(made: Counter, gone: Counter) {
    self.made = made
    self.gone = gone
  }

  mutating func next(_ random: inout SplitMix64) -> Any? {
    let number = Int(truncatingIfNeeded: random.next())
    let text = String(repeating: "x", count: Int(random.next() % 40))
    switch random.next() % 46 {
    case 0, 1: return nil
    case 2: return number
    case 3: return Int8(truncatingIfNeeded: number)
    case 4: return UInt(truncatingIfNeeded: number)
    case 5: return Double(number)
    case 6: return Float(number)
    case 7: return number.isMultiple(of: 2)
    case 8: return text
    case 9: return Character("y")
    case 10: return (Int8(truncatingIfNeeded: number), Int64(number))
    case 11: return ()
    case 12: return Kinds.Point(x: Double(number), label: text)
    case 13: return Kinds.Color.green
    case 14: return Kinds.Token.word(text)
    case 15: return Kinds.Token.pair(.word(text), .end)
    case 16: return [number, 1]
    case 17: return [text]
    case 18: return [text: number]
    case 19: return Set([text])
    case 20: return keep(Kinds.Dog(name: text))
    case 21: return keep(Kinds.Animal(name: text))
    case 22: return Kinds.Stone()
    case 23: return probe()
    case 24: return [probe(), probe()]
    case 25: return Stuck(description: text)
    case 26: return Int.self
    case 27: return Kinds.Dog.self
    case 28: return Kinds.Stone.self
    case 29: return Kinds.Point.self
    case 30: return SIMD4<Float>(repeating: Float(number))
    case 31: return Int128(number)
    case 32: return AnyHashable(number)
    case 33: return Result<Int, any Error>.success(number)
    case 34: return [text: [number, nil]] as [String: [Int?]]
    case 35: return Substring(text)
    case 36: return Kinds.Clamped(wrappedValue: number)
    case 37: return Int?.none as Any
    case 38: return Int?.some(number) as Any
    case 39: return text as String? as Any
    case 40: return Int??.some(.none) as Any
    case 41: return keep(Kinds.Dog(name: text)) as Kinds.Animal? as Any
    case 42: return { (number: Int) in number }
    case 43: return Int16(truncatingIfNeeded: number)
    case 44: return [text, number] as [Any]
    default: return UInt8(truncatingIfNeeded: number)
    }
  }

  private func probe() -> Kinds.Probe {
    made.increment()
    return Kinds.Probe { [gone] in gone.increment() }
  }

  private mutating func keep<Object: AnyObject>(_ object: Object) -> Object {
    if kept.count < 64 { kept.append(object) } else { kept[kept.count - 1 - Int(made.value % 64)] = object }
    return object
  }
}
