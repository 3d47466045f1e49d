import TestSupport
import BeansErrors
import Testing

@testable import BeansConfiguration

@Suite struct ScalarConversionTests {
  private let factory = StandardConversionFactory()

  private func convert<T>(_ value: Any, to type: T.Type) throws -> T {
    try #require(try factory.convert(value, targetType: type) as? T)
  }

  private func fails(_ value: Any, to type: Any.Type) -> Bool {
    code { try factory.convert(value, targetType: type) } == .conversionFailed
  }

  @Test func everyPairOfScalarTypesHasAConversion() throws {
    let types: [Any.Type] = [
      String.self, Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self,
      UInt16.self, UInt32.self, UInt64.self, Float.self, Double.self,
    ]
    func isNumber(_ type: Any.Type) -> Bool { type != String.self && type != Bool.self }
    for source in types {
      for target in types {
        // A Boolean is no number.
        let isKnown = source != Bool.self || !isNumber(target)
        #expect(factory.hasConversion(source, targetType: target) == isKnown, "\(source) to \(target)")
      }
    }
    // The number one is a value of all of them, and is preserved.
    for source in types {
      let one = try factory.convert("1", targetType: source)
      for target in types where source != Bool.self || !isNumber(target) {
        let result = try factory.convert(one, targetType: target)
        #expect(type(of: result) == target)
        if source == Bool.self {
          #expect("\(result)" == "true")
        } else if target == Bool.self {
          #expect(result as? Bool == true)
        } else {
          #expect(try convert(result, to: Double.self) == 1)
        }
      }
    }
  }

  @Test func integersAreConvertedFromText() throws {
    #expect(try convert("4711", to: Int.self) == 4711)
    #expect(try convert(" -12\t", to: Int8.self) == -12)
    #expect(try convert("+7", to: UInt16.self) == 7)
    #expect(try convert("18446744073709551615", to: UInt64.self) == .max)
    for text in ["", " ", "x", "1.0", "0x10", "1 2", "1_000", "--1", "9223372036854775808"] {
      #expect(fails(text, to: Int.self), "\(text)")
    }
    #expect(fails("256", to: UInt8.self))
    #expect(fails("-1", to: UInt.self))
  }

  @Test func integersThatDoNotFitAreRefused() throws {
    #expect(try convert(Int.max, to: UInt64.self) == UInt64(Int.max))
    #expect(fails(128, to: Int8.self))
    #expect(fails(-1, to: UInt64.self))
    #expect(fails(UInt64.max, to: Int64.self))
  }

  @Test func fractionsAndInfinityAreNoIntegers() throws {
    #expect(try convert(3.0, to: Int.self) == 3)
    #expect(try convert(Float(-4), to: Int8.self) == -4)
    for number in [1.5, .nan, .infinity, -.infinity, 1e300] { #expect(fails(number, to: Int.self), "\(number)") }
    #expect(fails(300.0, to: UInt8.self))
  }

  @Test func floatingPointNumbersAreTheNearest() throws {
    #expect(try convert("1.5", to: Float.self) == 1.5)
    #expect(try convert(0.1, to: Float.self) == Float(0.1))
    #expect(try convert(Float(0.5), to: Double.self) == 0.5)
    #expect(try convert(Int.max, to: Double.self) == Double(Int.max))
    #expect(try convert(Double.nan, to: Float.self).isNaN)
    #expect(try convert(Double.infinity, to: Float.self) == .infinity)
    #expect(try convert("-inf", to: Double.self) == -.infinity)
    #expect(fails(1e300, to: Float.self))
    #expect(fails("1e400", to: Double.self))
    #expect(fails("1e40", to: Float.self))
    #expect(fails("1,5", to: Double.self))
    #expect(fails("", to: Double.self))
  }

  @Test func booleansAreConvertedFromTextAndNumbers() throws {
    for text in ["true", "TRUE", "yes", "On", " 1 "] { #expect(try convert(text, to: Bool.self)) }
    for text in ["false", "False", "no", "OFF", "0"] { #expect(try !convert(text, to: Bool.self)) }
    for text in ["", "2", "ja", "truee"] { #expect(fails(text, to: Bool.self), "\(text)") }
    #expect(try convert(1, to: Bool.self))
    #expect(try !convert(0.0, to: Bool.self))
    #expect(fails(2, to: Bool.self))
    #expect(fails(UInt64.max, to: Bool.self))
    #expect(fails(Double.nan, to: Bool.self))
    #expect(code { try factory.convert(true, targetType: Int.self) } == .noConversion)
    #expect(code { try factory.convert(false, targetType: Double.self) } == .noConversion)
  }

  @Test func scalarsAreConvertedToText() throws {
    #expect(try convert(42, to: String.self) == "42")
    #expect(try convert(0.1, to: String.self) == "0.1")
    #expect(try convert(true, to: String.self) == "true")
    #expect(try convert(UInt8(7), to: String.self) == "7")
  }
}
