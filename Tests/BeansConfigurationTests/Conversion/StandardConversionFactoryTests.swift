import TestSupport
import BeansErrors
import Testing

@testable import BeansConfiguration

@Suite struct StandardConversionFactoryTests {
  private let factory = StandardConversionFactory()

  private func convert<T>(_ value: Any, to type: T.Type) throws -> T {
    try #require(try factory.convert(value, targetType: type) as? T)
  }

  @Test func conversionsAreFoundInTheSpellingOfTheSeeds() throws {
    let conversion = try factory.getConversion(String.self, targetType: Int.self)
    #expect(try conversion("4711") as? Int == 4711)
    #expect(factory.findConversion(String.self, targetType: Engine.self) == nil)
    #expect(!factory.hasConversion(Engine.self, targetType: Int.self))
    let fault = error { _ = try factory.getConversion(String.self, targetType: Engine.self) }
    #expect(fault?.code == .noConversion)
    #expect(fault?.message.contains("String") == true && fault?.message.contains("Engine") == true)
  }

  @Test func failuresNameTheValueAndTheTypes() {
    let fault = error { _ = try factory.convert("many", targetType: Int8.self) }
    #expect(fault?.code == .conversionFailed)
    for part in ["'many'", "String", "Int8", "-128", "127"] {
      #expect(fault?.message.contains(part) == true, "\(part)")
    }
    let long = error { _ = try factory.convert(String(repeating: "x\n", count: 10_000), targetType: Int.self) }
    #expect((long?.message.count ?? .max) < 200)
    #expect(long?.message.contains("\n") == false)
  }

  // MARK: registered conversions

  @Test func registeredConversionsWin() throws {
    factory.register(String.self, targetType: Engine.self) { Engine(name: $0) }
    factory.register(String.self, targetType: Int.self) { $0.count }
    #expect(try convert("V8", to: Engine.self).name == "V8")
    #expect(try convert("V8", to: Int.self) == 2)
    #expect(try convert("V8, W16", to: [Engine].self).map(\.name) == ["V8", "W16"])
    #expect(try convert("V8", to: Engine?.self)?.name == "V8")
    #expect(try convert("V8", to: Int?.self) == 2)
  }

  @Test func childrenInheritAndOverrideWithoutTouchingTheParent() throws {
    factory.register(String.self, targetType: Int.self) { _ in 1 }
    let child = StandardConversionFactory(parent: factory)
    #expect(try child.convert("x", targetType: Int.self) as? Int == 1)
    child.register(String.self, targetType: Int.self) { _ in 2 }
    #expect(try child.convert("x", targetType: Int.self) as? Int == 2)
    #expect(try convert("x", to: Int.self) == 1)
    #expect(!StandardConversionFactory().hasConversion(String.self, targetType: Engine.self))
  }

  @Test func anErrorOfAConversionIsKept() {
    factory.register(String.self, targetType: Engine.self) { _ in throw Refused() }
    let fault = error { _ = try factory.convert("V8", targetType: Engine.self) }
    #expect(fault?.code == .conversionFailed)
    #expect(fault?.underlying.first is Refused)
  }

  @Test func conversionsOfASuperclassServeItsSubclasses() throws {
    factory.register(Engine.self, targetType: String.self) { $0.name }
    #expect(try convert(Turbine(name: "T1"), to: String.self) == "T1")
  }

  // MARK: no conversion needed

  @Test func superclassesAndProtocolsAcceptTheValueUnchanged() throws {
    let turbine = Turbine(name: "T")
    #expect(try convert(turbine, to: Engine.self) === turbine)
    #expect(try convert(turbine, to: (any Named).self) as AnyObject === turbine)
    #expect(try convert(5, to: (any Equatable).self) as? Int == 5)
    #expect(code { try factory.convert(Engine(name: ""), targetType: Turbine.self) } == .noConversion)
  }

  // MARK: raw values

  @Test func enumsAreConvertedFromTextAndNumbers() throws {
    #expect(try convert("diesel", to: Fuel.self) == .diesel)
    #expect(try convert("2", to: Gear.self) == .second)
    #expect(try convert(2, to: Gear.self) == .second)
    #expect(try convert(2.0, to: Gear.self) == .second)
    #expect(try convert(Fuel.petrol, to: String.self) == "petrol")
    #expect(try convert(Gear.second, to: String.self) == "2")
    #expect(try convert(Gear.second, to: Int.self) == 2)
    #expect(try convert("diesel,petrol", to: [Fuel].self) == [.diesel, .petrol])
    let fault = error { _ = try factory.convert("coal", targetType: Fuel.self) }
    #expect(fault?.code == .conversionFailed)
    #expect(fault?.message.contains("petrol, diesel") == true)
    #expect(code { try factory.convert("7", targetType: Gear.self) } == .conversionFailed)
    #expect(code { try factory.convert("x", targetType: Gear.self) } == .conversionFailed)
  }

  @Test func aRawValueMadeOfItselfEndsTheSearch() {
    #expect(!factory.hasConversion(String.self, targetType: Ouroboros.self))
    #expect(!factory.hasConversion(Ouroboros.self, targetType: String.self))
  }

  // MARK: arrays and optionals

  @Test func arraysAreConvertedFromText() throws {
    #expect(try convert("1, 2,3", to: [Int].self) == [1, 2, 3])
    #expect(try convert("", to: [Int].self).isEmpty)
    #expect(try convert("  ", to: [String].self).isEmpty)
    #expect(try convert("a,,b", to: [String].self) == ["a", "", "b"])
    #expect(try convert("1s,2m", to: [Duration].self) == [.seconds(1), .seconds(120)])
    #expect(try convert("1,2", to: [Int?].self) == [1, 2])
    #expect(try convert("1,2", to: [[Int]].self) == [[1], [2]])
    #expect(try convert("1,2", to: [Int]?.self) == [1, 2])
    #expect(code { try factory.convert("1,,2", targetType: [Int].self) } == .conversionFailed)
    let fault = error { _ = try factory.convert("1,two,3", targetType: [Int].self) }
    #expect(fault?.message.contains("'two'") == true)
    #expect(code { try factory.convert("1", targetType: [Engine].self) } == .noConversion)
  }

  @Test func arraysAreConvertedFromAndToArraysAndText() throws {
    #expect(try convert(["1", "2"], to: [Int].self) == [1, 2])
    #expect(try convert([1, 2], to: [Double].self) == [1, 2])
    #expect(try convert([1, 2], to: String.self) == "1,2")
    #expect(try convert([Turbine(name: "a")], to: [Engine].self).map(\.name) == ["a"])
    #expect(code { try factory.convert([1, 300], targetType: [UInt8].self) } == .conversionFailed)
    #expect(code { try factory.convert(7, targetType: [Int].self) } == .noConversion)
  }

  @Test func setsAreConvertedFromArraysSetsAndText() throws {
    #expect(try convert(["1", "2", "02"], to: Set<Int>.self) == [1, 2])
    #expect(try convert(["1"] as Set, to: Set<Double>.self) == [1])
    #expect(try convert(" 1, 2,1", to: Set<Int>.self) == [1, 2])
    #expect(try convert("", to: Set<Int>.self).isEmpty)
    #expect(try convert([nil, 1, nil] as [Int?], to: Set<String?>.self) == [nil, "1"])
    #expect(code { try factory.convert([1] as Set, targetType: [Int].self) } == .noConversion)
    #expect(code { try factory.convert([1] as Set, targetType: String.self) } == .noConversion)
    #expect(code { try factory.convert([Engine(name: "a")], targetType: Set<Int>.self) } == .noConversion)
  }

  @Test func dictionariesAreConvertedByElement() throws {
    #expect(try convert(["a": "1"], to: [String: Int].self) == ["a": 1])
    #expect(try convert([1: ["2"]], to: [String: Set<Int>].self) == ["1": [2]])
    #expect(try convert(["a": nil, "b": "1"] as [String: String?], to: [String: Int?].self) == ["a": nil, "b": 1])
    let repeated = error { _ = try factory.convert(["1": 1, "01": 2], targetType: [Int: Int].self) }
    #expect(repeated?.code == .invalidDeclaration && repeated?.message.contains("'1'") == true)
    #expect(code { try factory.convert(["a": 1], targetType: [Int: Int].self) } == .conversionFailed)
    #expect(code { try factory.convert("a=1", targetType: [String: Int].self) } == .noConversion)
    #expect(code { try factory.convert(["a": Engine(name: "a")], targetType: [String: Int].self) } == .noConversion)
  }

  /// The smallest key comes first, in any order of a dictionary.
  @Test func faultsOfDictionariesDoNotDependOnTheirOrder() throws {
    let values = Dictionary(uniqueKeysWithValues: (100..<200).map { ("\($0)", "x\($0)") })
    let fault = error { _ = try factory.convert(values, targetType: [Int: Int].self) }
    #expect(fault?.message.hasPrefix("value of key '100': cannot convert 'x100'") == true, "\(fault as Any)")
  }

  @Test func optionalsAreConvertedByTheirValues() throws {
    #expect(try convert("5", to: Int?.self) == 5)
    #expect(try convert("5", to: Int??.self) == 5)
    #expect(try convert(Int?.some(5) as Any, to: String.self) == "5")
    #expect(try convert(Int?.none as Any, to: Double?.self) == nil)
    #expect(code { try factory.convert(Int?.none as Any, targetType: String.self) } == .conversionFailed)
    #expect(code { try factory.convert("x", targetType: Int?.self) } == .conversionFailed)
  }

  @Test func typesWithALosslessTextAreConverted() throws {
    #expect(try convert("x", to: Character.self) == "x")
    #expect(try convert(Character("x"), to: String.self) == "x")
    #expect(try convert("90s", to: Duration.self) == .seconds(90))
    #expect(try convert(Duration.milliseconds(5), to: String.self) == "5ms")
    #expect(code { try factory.convert("xy", targetType: Character.self) } == .conversionFailed)
  }

  @Test func conversionsMayBeRegisteredAndFoundOnManyThreads() throws {
    let values = try onThreads(8) { number -> Int in
      var sum = 0
      for _ in 0..<200 {
        factory.register(String.self, targetType: Engine.self) { Engine(name: $0) }
        if factory.hasConversion(String.self, targetType: Engine.self) { sum += 1 }
      }
      return sum
    }
    #expect(values == Array(repeating: 200, count: 8))
  }

  private func error(_ body: () throws -> Void) -> EnvironmentError? {
    do {
      try body()
      return nil
    } catch {
      return error as? EnvironmentError
    }
  }
}

private protocol Named { var name: String { get } }
private class Engine: Named {
  let name: String
  init(name: String) { self.name = name }
}
private final class Turbine: Engine {}
private struct Refused: Error {}
private enum Fuel: String, CaseIterable { case petrol, diesel }
private enum Gear: Int8 {
  case first = 1
  case second
}
private struct Ouroboros: RawRepresentable {
  typealias RawValue = Inner
  struct Inner: RawRepresentable {
    let outer: [Ouroboros]
    var rawValue: Ouroboros { outer[0] }
    init(rawValue: Ouroboros) { outer = [rawValue] }
  }
  let rawValue: Inner
  init(rawValue: Inner) { self.rawValue = rawValue }
}
