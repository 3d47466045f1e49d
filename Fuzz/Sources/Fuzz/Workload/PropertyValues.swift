/// Values of all types that properties of `Everything` have, and of some that none has.
enum PropertyValues {
  static let kinds = 46

  static func make(_ kind: Int, _ bytes: inout ByteReader, keep: (AnyObject) -> Void) -> Any? {
    func kept<Object: AnyObject>(_ object: Object) -> Object {
      keep(object)
      return object
    }
    let number = Int(truncatingIfNeeded: bytes.bits(3))
    let text = String(repeating: "x", count: number % 40)
    switch kind {
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
    case 12: return Point(x: Double(number), label: text)
    case 13: return FuzzColor.green
    case 14: return Token.word(text)
    case 15: return Token.pair(.word(text), .end)
    case 16: return [number, 1]
    case 17: return [text]
    case 18: return [text: number]
    case 19: return Set([text])
    case 20: return kept(Dog(name: text))
    case 21: return kept(Animal(name: text))
    case 22: return kept(Stone())
    case 23: return Probe()
    case 24: return [Probe(), Probe()]
    case 25: return Refusal(text: text)
    case 26: return Int.self
    case 27: return Dog.self
    case 28: return Stone.self
    case 29: return Point.self
    case 30: return SIMD4<Float>(repeating: Float(number))
    case 31: return Int128(number)
    case 32: return AnyHashable(number)
    case 33: return Result<Int, any Error>.success(number)
    case 34: return [text: [number, nil]] as [String: [Int?]]
    case 35: return Substring(text)
    case 36: return Clamped(wrappedValue: number)
    case 37: return Int?.none as Any
    case 38: return Int?.some(number) as Any
    case 39: return text as String? as Any
    case 40: return Int??.some(.none) as Any
    case 41: return kept(Dog(name: text)) as Animal? as Any
    case 42: return { (number: Int) in number }
    case 43: return [1, 2, 3] as InlineArray<3, Int8>
    case 44: return [text, number] as [Any]
    default: return UInt8(truncatingIfNeeded: number)
    }
  }

  /// Returns true if two values are the same object, the same type, equal, or at least look alike; optionality does not
  /// matter.
  static func areSame(_ left: Any?, _ right: Any?) -> Bool {
    guard let left = plain(left), let right = plain(right) else { return plain(left) == nil && plain(right) == nil }
    if let left = left as? Any.Type, let right = right as? Any.Type { return left == right }
    if type(of: left) is AnyClass, type(of: right) is AnyClass { return left as AnyObject === right as AnyObject }
    if let left = left as? any Equatable { return isEqual(left, right) }
    return String(reflecting: left) == String(reflecting: right)
  }

  private static func isEqual<Value: Equatable>(_ left: Value, _ right: Any) -> Bool { left == right as? Value }

  private static func plain(_ value: Any?) -> Any? {
    var value = value
    while let current = value, let optional = current as? any FlatOptional { value = optional.flat }
    return value
  }
}

private protocol FlatOptional { var flat: Any? { get } }

extension Optional: FlatOptional { fileprivate var flat: Any? { self } }
