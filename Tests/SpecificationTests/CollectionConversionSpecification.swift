import Beans
import Testing

@Suite("Conversion of declared collections") struct CollectionConversionSpecification {
  @FreshEnvironment("collections") private var environment

  private func box(_ property: String, _ value: Any) throws -> Box {
    let environment = try Environment(name: "collections")
    try environment.define(environment.bean(Box.self).property(property, .value(value)))
    return try environment.getBean(Box.self)
  }

  private func fault(_ property: String, _ value: Any) throws -> EnvironmentError {
    let environment = try Environment(name: "collections")
    try environment.define(environment.bean(Box.self).property(property, .value(value)))
    return try requireFault { try environment.startup() }
  }

  @Test("An array becomes a set of converted elements; repeated elements occur once")
  func sets() throws {
    #expect(try box("numbers", [1, 2]).numbers == [1, 2])
    #expect(try box("numbers", ["1", "2", " 2"]).numbers == [1, 2])
    #expect(try box("numbers", [Int]()).numbers == [])
    #expect(try box("numbers", "1, 2,2").numbers == [1, 2])
    #expect(try box("numbers", ["1", "2"] as Set).numbers == [1, 2])
    #expect(try box("perhaps", ["7"]).perhaps == [7])
    #expect(try box("modes", ["fast", "safe"]).modes == [.fast, .safe])
  }

  @Test("Keys and values of a dictionary are converted")
  func dictionaries() throws {
    #expect(try box("ages", ["a": "1", "b": "2"]).ages == ["a": 1, "b": 2])
    #expect(try box("ages", [1: 2]).ages == ["1": 2])
    #expect(try box("names", ["1": "one"]).names == [1: "one"])
    #expect(try box("ages", [String: String]()).ages == [:])
  }

  @Test("Collections in collections are converted, at any depth")
  func nested() throws {
    #expect(try box("texts", [1, 2]).texts == ["1", "2"])
    #expect(try box("groups", [[1], [2, 2]]).groups == [[1], [2]])
    #expect(try box("groups", [["1", "01"], []]).groups == [[1], []])
    #expect(try box("groups", ["1", "2"]).groups == [[1], [2]])
    #expect(try box("byName", ["a": [["1": 1.0]]]).byName == ["a": [[1: 1]]])
  }

  @Test("A parameter, an element of a list and an element of a map accept collections, too")
  func places() throws {
    try environment.define(
      environment.bean(
        Int.self, factory: { (numbers: Set<Int>, ages: [String: Int]) in numbers.count * 10 + ages.count }
      )
      .argument(0, value: ["1", "2"]).argument(1, value: ["a": "1"]))
    try environment.define(
      environment.bean(Box.self)
        .property(\.numbers, .value(["1"]))
        .property("groups", .list([.value(["1", "2"]), .value([3])]))
        .property("byName", .map([(.value("a"), .value([["1": "2"]]))])))
    #expect(try environment.getBean(Int.self) == 21)
    let box = try environment.getBean(Box.self)
    #expect(box.numbers == [1])
    #expect(box.groups == [[1, 2], [3]])
    #expect(box.byName == ["a": [[1: 2]]])
  }

  @Test("Configuration values are converted as well, whether they are read or injected")
  func configuration() throws {
    try environment.define(
      environment.settings().setValue(key: "list", value: ["1", "2", "2"]).setValue(key: "text", value: "3,4")
        .setValue(key: "map", value: ["a": "1"]))
    try environment.define(
      environment.bean(Box.self).property("numbers", resolve: "${list}").property("perhaps", resolve: "${text}")
        .property("ages", resolve: "${map}"))
    let box = try environment.getBean(Box.self)
    #expect(box.numbers == [1, 2] && box.perhaps == [3, 4] && box.ages == ["a": 1])
    #expect(try environment.getConfigurationValue(Set<Int>.self, key: "list") == [1, 2])
    #expect(try environment.getConfigurationValue([String: Double].self, key: "map") == ["a": 1])
  }

  @Test("A user's conversion of a collection wins over its elements', and one of an element over the standard")
  func registered() throws {
    try environment.registerConversion(from: [String].self, to: Set<Int>.self) { [$0.count] }
    try environment.registerConversion(from: Int.self, to: String.self) { "number \($0)" }
    try environment.define(
      environment.bean(Box.self).property("numbers", value: ["x", "y"]).property("texts", value: [7]))
    let box = try environment.getBean(Box.self)
    #expect(box.numbers == [2])
    #expect(box.texts == ["number 7"])
  }

  @Test("An element that does not convert is named by its index or its key, from the outermost collection inwards")
  func failingElements() throws {
    let element = try fault("numbers", ["1", "x"])
    #expect(element.code == .conversionFailed)
    #expect(element.message.hasPrefix("property 'numbers': element 1: cannot convert 'x' (String) to Int"))
    let value = try fault("ages", ["a": "1", "b": "x", "c": "y"])
    #expect(value.code == .conversionFailed)
    #expect(value.message.hasPrefix("property 'ages': value of key 'b': cannot convert 'x' (String) to Int"))
    let key = try fault("names", ["x": "one"])
    #expect(key.code == .conversionFailed)
    #expect(key.message.hasPrefix("property 'names': key 'x': cannot convert 'x' (String) to Int"))
    let inner = try fault("byName", ["a": [["1": "1"], ["2": "x"]]])
    #expect(
      inner.message.hasPrefix("property 'byName': value of key 'a', element 1, value of key '2': cannot convert 'x'"))
    #expect(try fault("groups", "1, x").message.contains("element 1, element 0: cannot convert 'x'"))
  }

  @Test("Two keys that become one are an invalid declaration that names the key and its place")
  func repeatedKeys() throws {
    let fault = try fault("names", ["1": "one", "01": "also one"])
    #expect(fault.code == .invalidDeclaration)
    #expect(fault.message == "property 'names': two entries have the same key '1'")
    let inner = try self.fault("byName", ["a": [[" 1": 1.0, "1": 2.0]]])
    #expect(inner.code == .invalidDeclaration)
    #expect(inner.message == "property 'byName': value of key 'a', element 0: two entries have the same key '1'")
  }

  @Test("A conversion's own error is kept in underlying, and its text names its element")
  func thrown() throws {
    try environment.registerConversion(from: String.self, to: Int.self) { _ in throw Boom(name: "no number") }
    try environment.define(environment.bean(Box.self).property("numbers", value: ["one"]))
    let fault = try requireFault(.conversionFailed, causes: [Boom(name: "no number")]) { try environment.startup() }
    #expect(fault.message.contains("element 0: "))
  }

  @Test("A collection has no conversion if its elements have none, or if a set would have to be ordered")
  func noConversion() throws {
    #expect(try fault("numbers", [Duration.seconds(1)]).code == .noConversion)
    #expect(try fault("ages", ["a": Duration.seconds(1)]).code == .noConversion)
    #expect(try fault("ages", ["a", "b"]).code == .noConversion)
    #expect(try fault("numbers", ["a": 1]).code == .noConversion)
    #expect(try fault("texts", [1, 2] as Set).code == .noConversion)
  }
}

private enum Mode: String { case fast, safe }

private final class Box: Initializable {
  var numbers: Set<Int> = []
  var perhaps: Set<Int>?
  var modes: Set<Mode> = []
  var texts: [String] = []
  var groups: [Set<Int>] = []
  var ages: [String: Int] = [:]
  var names: [Int: String] = [:]
  var byName: [String: [[Int: Double]]] = [:]
}
