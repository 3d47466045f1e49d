import TestSupport
import BeansErrors
import Testing

@testable import BeansReflection

private typealias Animal = Kinds.Animal
private typealias Color = Kinds.Color
private typealias Dog = Kinds.Dog
private typealias Everything = Kinds.Everything
private typealias Point = Kinds.Point
private typealias Stone = Kinds.Stone
private typealias Token = Kinds.Token

@Suite struct PropertyDescriptorTests {
  private let owner = Animal(name: "owner")

  private func property(_ name: String) throws -> PropertyDescriptor {
    try BeanDescriptor.forClass(Everything.self).getProperty(name)
  }

  /// Sets each of `good` through the descriptor and finds it in the property, unchanged after each of `bad`.
  private func check<Value>(
    _ name: String, _ path: KeyPath<Everything, Value>, good: [Any?], bad: [Any?], _ same: (Value, Any?) -> Bool
  ) throws {
    let everything = Everything(owner: owner)
    let property = try property(name)
    for value in good {
      #expect(property.accepts(value))
      try property.set(everything, value: value)
      #expect(same(everything[keyPath: path], value), "\(name) = \(String(describing: value))")
      #expect(same(everything[keyPath: path], try property.get(everything)), "\(name)")
    }
    let before = try property.get(everything)
    for value in bad {
      #expect(!property.accepts(value))
      #expect(
        code { try property.set(everything, value: value) } == .typeMismatch, "\(name) = \(String(describing: value))")
      #expect(areSame(try property.get(everything), before), "\(name)")
    }
    #expect(everything.last == 0xAB)
  }

  private func isType(_ property: PropertyDescriptor, _ type: Any.Type) -> Bool { property.getPropertyType() == type }

  private func check<Value: Equatable>(
    _ name: String, _ path: KeyPath<Everything, Value>, good: [Value], bad: [Any?]
  ) throws {
    try check(name, path, good: good.map { $0 as Any }, bad: bad + [nil]) { $0 == $1 as? Value }
  }

  private func check<Value: Equatable>(
    _ name: String, optional path: KeyPath<Everything, Value?>, good: [Value], bad: [Any?]
  ) throws {
    try check(name, path, good: good.map { $0 as Any } + [nil], bad: bad) { $0 == $1 as? Value }
    #expect(try property(name).isOptional())
    #expect(try isType(property(name), Value.self))
  }

  private func check<Value>(_ name: String, object path: KeyPath<Everything, Value>, good: [AnyObject], bad: [Any?])
    throws
  {
    try check(name, path, good: good, bad: bad + [nil]) { $0 as AnyObject === $1 as AnyObject }
  }

  @Test func numbersAcceptTheirOwnTypeOnly() throws {
    try check("integer", \.integer, good: [0, .max, .min], bad: ["1", 1.0, Int8(1), UInt(1), true, Stone(), [1]])
    try check("byte", \.byte, good: [0, .max, .min], bad: [1, "1", UInt8(1)])
    try check("unsigned", \.unsigned, good: [0, .max], bad: [1, -1, 1.0])
    try check("real", \.real, good: [0, -1.5, .infinity], bad: [1, Float(1), "1"])
    try check("single", \.single, good: [0, -1.5], bad: [1, 1.0, "1"])
    try check("flag", \.flag, good: [true, false], bad: [1, "true"])
    try check("wide", \.wide, good: [.max, .min], bad: [1])
    try check("vector", \.vector, good: [SIMD4(1, 2, 3, 4)], bad: [[1, 2, 3, 4] as [Float], Float(1)])
  }

  @Test func textAndCollectionsAcceptTheirOwnTypeOnly() throws {
    let long = String(repeating: "long ", count: 100)
    try check("text", \.text, good: ["", "short", long], bad: [1, Character("x"), Substring("x"), StaticString("x")])
    try check("character", \.character, good: ["x"], bad: ["x", 1])
    try check("list", \.list, good: [[], [1, 2, 3]], bad: [1, ["a"], [1: 2], Set([1])])
    try check("table", \.table, good: [[:], ["b": 2]], bad: [["b": "c"], [1: 1], 1])
    try check("set", \.set, good: [[], ["x"]], bad: [Set([1]), ["x"], "x"])
    try check("nested", \.nested, good: [["a": [1, nil]]], bad: [["a": "b"]])
    try check("key", \.key, good: [AnyHashable("x"), AnyHashable(2)], bad: [Stone()])
  }

  @Test func structsAndEnumsAcceptTheirOwnTypeOnly() throws {
    try check(
      "point", \.point, good: [Point(x: 1, label: "a long label, kept on the heap")], bad: [1, Color.red, Dog()])
    try check("color", \.color, good: [.green, .red], bad: [1, "red", Token.end])
    try check("token", \.token, good: [.word("w"), .pair(.end, .word("x")), .end], bad: [Color.red, "end"])
    try check("path", \.path, good: [\.x], bad: [\Point.label, 1])
  }

  @Test func tuplesAndInlineArraysAcceptTheirOwnTypeOnly() throws {
    try check("bytes", \.bytes, good: [(Int8(3), Int64(4))], bad: [(3, 4), 1, nil]) {
      $0 == ($1 as? (Int8, Int64) ?? (0, 0))
    }
    try check("inline", \.inline, good: [[4, 5, 6] as InlineArray<3, Int8>], bad: [[4, 5, 6] as [Int8], nil]) {
      $0[2] == ($1 as? InlineArray<3, Int8>)?[2]
    }
  }

  @Test func objectPropertiesAcceptSubclasses() throws {
    try check("animal", object: \.animal, good: [Animal(), Dog()], bad: [Stone(), 1, "a"])
    try check("dog", object: \.dog, good: [Dog()], bad: [Animal(), Stone(), 1])
    try check("object", object: \.object, good: [Dog(), Stone()], bad: [1, "text", Point(), [1], Int.self])
  }

  @Test func protocolPropertiesAcceptConformingValues() throws {
    try check("shape", \.shape, good: [Dog(), Point(label: "p")], bad: [Animal(), 1, nil]) { areSame($0, $1) }
    try check("living", \.living, good: [Dog(), Animal()], bad: [Stone(), Point(), nil]) { areSame($0, $1) }
    try check("livingShape", \.livingShape, good: [Dog()], bad: [Animal(), Point(), nil]) { areSame($0, $1) }
    try check("dogShape", \.dogShape, good: [Dog()], bad: [Animal(), Point(), nil]) { areSame($0, $1) }
    try check("error", \.error, good: [Stuck(description: "s")], bad: [1, Dog(), nil]) { areSame($0, $1) }
    try check("numbers", \.numbers, good: [[1, 2], Set([3])], bad: [["a"], 1, nil]) { areSame($0, $1) }
    try check("opaque", \.opaque, good: [Point(label: "p")], bad: [Dog(), nil]) { areSame($0, $1) }
    let values: [Any?] = [1, "text", Dog(), Point(), [1], Int.self, (1, 2)]
    try check("anything", \.anything, good: values, bad: [nil]) { areSame($0, $1) }
    #expect(try isType(property("livingShape"), (any Kinds.Living & Kinds.Shape).self))
  }

  @Test func metatypePropertiesAcceptSubtypes() throws {
    try check("type", \.type, good: [String.self, Dog.self], bad: [1, Dog(), nil]) { areSame($0, $1) }
    try check("shapeType", \.shapeType, good: [Dog.self], bad: [Animal.self, 1, nil]) { areSame($0, $1) }
    try check("animalType", \.animalType, good: [Dog.self], bad: [Stone.self, Int.self, nil]) { areSame($0, $1) }
    try check("stoneType", \.stoneType, good: [Stone.self], bad: [Dog.self, nil]) { areSame($0, $1) }
    try check("maybeStoneType", \.maybeStoneType, good: [Stone.self, nil], bad: [Dog.self]) { areSame($0, $1) }
  }

  @Test func optionalPropertiesAcceptValuesAndNil() throws {
    try check("maybeInteger", optional: \.maybeInteger, good: [1, .max], bad: ["1", 1.0])
    try check("maybeText", optional: \.maybeText, good: ["", "text"], bad: [1, Dog()])
    try check("maybeColor", optional: \.maybeColor, good: [.green], bad: [1])
    try check("maybePoint", optional: \.maybePoint, good: [Point(x: 2)], bad: [1, Dog()])
    try check("maybeAnimal", \.maybeAnimal, good: [Dog(), Animal(), nil], bad: [Stone(), 1]) { areSame($0, $1) }
    try check("maybeShape", \.maybeShape, good: [Dog(), Point(), nil], bad: [Stone(), 1]) { areSame($0, $1) }
    try check("maybeAnything", \.maybeAnything, good: [Dog(), 1, nil], bad: []) { areSame($0, $1) }
    try check("maybeObject", \.maybeObject, good: [Dog(), nil], bad: [1, "text", Point()]) { areSame($0, $1) }
    try check("forced", \.forced, good: [Stone(), nil], bad: [Dog()]) { areSame($0, $1) }
  }

  @Test func optionalValuesAreUnwrapped() throws {
    let everything = Everything(owner: owner)
    let some: Int? = 5, none: Int? = nil, noText: String? = nil
    try property("integer").set(everything, value: some as Any)
    #expect(everything.integer == 5)
    #expect(code { try property("integer").set(everything, value: none as Any) } == .typeMismatch)
    try property("maybeInteger").set(everything, value: some as Any)
    #expect(everything.maybeInteger == 5)
    try property("maybeInteger").set(everything, value: noText as Any)
    #expect(everything.maybeInteger == nil)
    try property("maybeAnything").set(everything, value: none as Any)
    #expect(everything.maybeAnything == nil)
    try property("anything").set(everything, value: some as Any)
    #expect(everything.anything as? Int == 5)
    #expect(code { try property("maybeInteger").set(everything, value: "5" as String? as Any) } == .typeMismatch)
  }

  @Test func optionalsOfOptionalsKeepTheirLevels() throws {
    let everything = Everything(owner: owner)
    let twice = try property("twice")
    #expect(isType(twice, Int?.self))
    try twice.set(everything, value: 5)
    #expect(everything.twice == .some(.some(5)))
    #expect(try twice.get(everything) as? Int == 5)
    try twice.set(everything, value: Int?.none as Any)
    #expect(everything.twice == .some(.none))
    #expect(try twice.get(everything) as Any is Int?)
    try twice.set(everything, value: Int??.none as Any)
    #expect(everything.twice == .none)
    #expect(try twice.get(everything) == nil)
    everything.twice = .some(.some(6))
    try twice.set(everything, value: nil)
    #expect(everything.twice == .none)
    #expect(code { try twice.set(everything, value: "5") } == .typeMismatch)
  }

  @Test func weakPropertiesStayWeak() throws {
    let everything = Everything(owner: owner)
    for name in ["weakAnimal", "weakLiving", "weakObject"] {
      let property = try property(name)
      #expect(property.isOptional())
      var dog: Dog? = Dog(name: name)
      try property.set(everything, value: dog)
      #expect(try property.get(everything) as? Dog === dog)
      dog = nil
      #expect(try property.get(everything) == nil)
      try property.set(everything, value: owner)
      #expect(try property.get(everything) as? Animal === owner)
      #expect(code { try property.set(everything, value: Point()) } == .typeMismatch)
      #expect(try property.get(everything) as? Animal === owner)
      try property.set(everything, value: nil)
      #expect(try property.get(everything) == nil)
    }
    try property("weakLiving").set(everything, value: owner)
    #expect(everything.weakLiving?.name == "owner")
    try property("weakAnimal").set(everything, value: owner)
    #expect(everything.weakAnimal === owner)
    let dog = Dog()
    everything.weakLiving = dog
    #expect(try property("weakLiving").get(everything) as? Dog === dog)
  }

  @Test func lazyPropertiesAreSetWithoutTheirInitialValue() throws {
    let everything = Everything(owner: owner)
    let late = try property("late"), lateMaybe = try property("lateMaybe")
    #expect(isType(late, String.self))
    #expect(!late.isOptional())
    #expect(lateMaybe.isOptional())
    #expect(isType(lateMaybe, Int.self))
    #expect(try late.get(everything) == nil)
    try late.set(everything, value: "set")
    #expect(everything.late == "set")
    #expect(code { try late.set(everything, value: nil) } == .typeMismatch)
    #expect(code { try late.set(everything, value: 1) } == .typeMismatch)
    #expect(try late.get(everything) as? String == "set")
    try lateMaybe.set(everything, value: nil)
    #expect(everything.lateMaybe == nil)
    let other = Everything(owner: owner)
    #expect(other.late == "late")
    #expect(try late.get(other) as? String == "late")
    #expect(other.lateMaybe == 7)
  }

  @Test func propertyWrappersAreSetByTheirStorage() throws {
    let everything = Everything(owner: owner)
    try property("_clamped").set(everything, value: Kinds.Clamped(wrappedValue: 9))
    #expect(everything.clamped == 9)
    #expect(throws: EnvironmentError(.unknownProperty, "")) { try property("clamped") }
  }

  @Test(arguments: [
    "valueType", "maybeValueType", "closure", "maybeClosure", "pairWithClosure", "owner", "unsafeOwner", "mutex",
    "atomic", "unique", "maybeUnique", "void",
  ])
  func unsupportedPropertiesAreRefused(name: String) throws {
    let everything = Everything(owner: owner)
    let property = try property(name)
    for value in [nil, 1, Int.self, { (number: Int) in number }, owner, ()] as [Any?] {
      #expect(code { try property.set(everything, value: value) } == .invalidDeclaration)
      #expect(!property.accepts(value))
    }
    #expect(code { try property.get(everything) } == .invalidDeclaration)
    #expect(everything.closure(3) == 3)
    #expect(everything.unique.number == 1)
  }

  @Test func constantsAreReadOnly() throws {
    let everything = Everything(owner: owner)
    #expect(try property("constant").get(everything) as? Int == 5)
    #expect(code { try property("constant").set(everything, value: 6) } == .invalidDeclaration)
    #expect(everything.constant == 5)
  }

  @Test func objectsOfOtherClassesAreRefused() throws {
    #expect(code { try property("integer").set(Kinds.Root(), value: 1) } == .typeMismatch)
    #expect(code { try property("integer").get(Stone()) } == .typeMismatch)
    #expect(code { try property("integer").set(1 as AnyObject, value: 1) } == .typeMismatch)
    let root = Kinds.Root()
    try property("count").set(root, value: 12)
    #expect(root.count == 12)
    let error = #expect(throws: EnvironmentError.self) { try property("integer").set(root, value: 1) }
    #expect(error?.message == "Everything.integer is no property of Root")
  }

  @Test func oldValuesAreReleased() throws {
    let everything = Everything(owner: owner)
    let made = Counter(), gone = Counter()
    func probe() -> Kinds.Probe {
      made.increment()
      return Kinds.Probe { gone.increment() }
    }
    for name in ["object", "anything", "maybeObject", "maybeAnything"] {
      for _ in 0..<3 { try property(name).set(everything, value: probe()) }
      #expect(made.value - gone.value == 1)
      try property(name).set(everything, value: name.hasPrefix("maybe") ? nil : owner)
      #expect(made.value == gone.value)
    }
    try property("anything").set(everything, value: [probe(), probe()])
    let held = try property("anything").get(everything)
    try property("anything").set(everything, value: 1)
    #expect(made.value - gone.value == 2)
    withExtendedLifetime(held) {}
  }

  /// The end of an old value reads the new one.
  @Test func anEndOfAnOldValueMayReadTheProperty() throws {
    let everything = Everything(owner: owner)
    let property = try property("object")
    let seen = Journal()
    try property.set(
      everything, value: Kinds.Probe { seen.note((try? property.get(everything) as? Animal)?.name ?? "") })
    try property.set(everything, value: owner)
    #expect(seen.entries == ["owner"])
  }

  @Test func errorsNameClassPropertyTypesAndValue() throws {
    let everything = Everything(owner: owner)
    #expect(
      #expect(throws: EnvironmentError.self) { try property("integer").set(everything, value: "many") }?.message
        == "Everything.integer expects Int, got String 'many'")
    #expect(
      #expect(throws: EnvironmentError.self) { try property("integer").set(everything, value: nil) }?.message
        == "Everything.integer is no optional: it cannot be nil")
    #expect(
      #expect(throws: EnvironmentError.self) { try property("maybeAnimal").set(everything, value: Stone()) }?.message
        == "Everything.maybeAnimal expects Optional<Animal>, got Stone")
  }

  @Test func typedAccessStoresOnlyItsOwnType() throws {
    let everything = Everything(owner: owner)
    let access = try #require(try property("maybeText").access(as: String?.self))
    access.store(everything, "typed")
    #expect(everything.maybeText == "typed")
    #expect(try property("maybeText").access(as: String.self) == nil)
    #expect(try property("closure").access(as: ((Int) -> Int).self) == nil)
    let weakly = try #require(try property("weakAnimal").access(as: Animal?.self))
    weakly.store(everything, owner)
    #expect(everything.weakAnimal === owner)
    let lazily = try #require(try property("late").access(as: String.self))
    lazily.store(everything, "typed")
    #expect(everything.late == "typed")
  }
}
