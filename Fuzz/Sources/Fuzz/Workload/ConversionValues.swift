/// Values of all types that convert, and of some that do not, and the types to convert to.
enum ConversionValues {
  enum Level: Int, CaseIterable { case low = -1, middle, high = 300 }
  enum Ratio: Double { case half = 0.5, whole = 1 }
  struct Flags: OptionSet { let rawValue: UInt8 }
  /// A raw value that is `RawRepresentable` itself.
  struct Wrapped: RawRepresentable { var rawValue: FuzzColor }
  /// Is its own raw value: a search without an end.
  struct Endless: RawRepresentable {
    var rawValue: Endless { self }
    init?(rawValue: Endless) { self = rawValue }
    init() {}
  }
  class Base {}
  final class Derived: Base {}

  static let types: [Any.Type] = [
    Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self, UInt.self, UInt8.self, UInt16.self,
    UInt32.self, UInt64.self, UInt128.self, Float16.self, Float.self, Double.self, String.self, Substring.self,
    Character.self, Unicode.Scalar.self, Duration.self, FuzzColor.self, Level.self, Ratio.self, Flags.self,
    Wrapped.self,
    Endless.self, [Int].self, [String].self, [Duration].self, [FuzzColor].self, [[Int8]].self, [Int?].self, [Any].self,
    Int?.self, String?.self, Int8??.self, FuzzColor?.self, [Int]?.self, Base.self, Derived.self, Any.self,
    AnyObject.self,
    AnyHashable.self, (any CustomStringConvertible).self, Void.self, (Int, Int).self, Int.Type.self, Never.self,
    [String: Int].self, Set<Int>.self,
  ]

  /// The number of kinds. Kinds from 41 on are text.
  static let kinds = 56

  static func make(_ kind: Int, _ bytes: inout ByteReader) -> Any {
    let bits = bytes.bits()
    let real = Double(bitPattern: bits)
    let text = bytes.text()
    switch kind {
    case 0: return bits % 2 == 0
    case 1: return Int(truncatingIfNeeded: bits)
    case 2: return Int8(truncatingIfNeeded: bits)
    case 3: return Int16(truncatingIfNeeded: bits)
    case 4: return Int32(truncatingIfNeeded: bits)
    case 5: return Int128(truncatingIfNeeded: bits) &* Int128(Int64(truncatingIfNeeded: bits))
    case 6: return UInt(bits)
    case 7: return UInt8(truncatingIfNeeded: bits)
    case 8: return UInt16(truncatingIfNeeded: bits)
    case 9: return UInt32(truncatingIfNeeded: bits)
    case 10: return ~(UInt128(bits) << 3)
    case 11: return Float16(bitPattern: UInt16(truncatingIfNeeded: bits))
    case 12: return Float(bitPattern: UInt32(truncatingIfNeeded: bits))
    case 13, 14: return real
    case 15: return real.rounded()
    case 16: return Double(Int64(truncatingIfNeeded: bits))
    case 17: return Substring(text)
    case 18: return text.first ?? "c"
    case 19: return text.unicodeScalars.first ?? "u"
    case 20: return Duration(secondsComponent: Int64(truncatingIfNeeded: bits), attosecondsComponent: 0)
    case 21: return Duration.nanoseconds(Int64(truncatingIfNeeded: bits))
    case 22: return FuzzColor.allCases[Int(bits % 3)]
    case 23: return Level.allCases[Int(bits % 3)]
    case 24: return Ratio.half
    case 25: return Flags(rawValue: UInt8(truncatingIfNeeded: bits))
    case 26: return Wrapped(rawValue: .blue)
    case 27: return Endless()
    case 28: return [Int(truncatingIfNeeded: bits), 1]
    case 29: return [text, "1"]
    case 30: return [real, 1]
    case 31: return [[Int8(truncatingIfNeeded: bits)], []]
    case 32: return [Int?.some(1), nil]
    case 33: return Int?.none as Any
    case 34: return Int??.some(.some(Int(truncatingIfNeeded: bits))) as Any
    case 35: return String?.some(text) as Any
    case 36: return [text, 1, real] as [Any]
    case 37: return Derived()
    case 38: return ()
    case 39: return Int.self
    case 40: return [text: 1]
    default: return text
    }
  }

  /// Returns true if a value is an instance of a type that is known only at run time.
  static func isInstance(_ value: Any, of type: Any.Type) -> Bool {
    func check<Type>(_ type: Type.Type) -> Bool { value is Type }
    return _openExistential(type, do: check)
  }
}
