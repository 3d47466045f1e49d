import Beans
import Testing

private class Foo {
  var string = ""
  var int = 0
  var float: Float = 0
  var double = 0.0
  var strings: [String] = []
}

private final class Derived: Foo, Initializable {
  var more = ""
  override init() {}
}

extension AcceptanceFacts {
  @Test("1: a subclass's descriptor has the inherited properties, and they can be set on an instance of the superclass")
  func inheritedProperties() throws {
    let descriptor = try BeanDescriptor.forClass(Derived.self)
    #expect(descriptor.getProperties().map { $0.getName() } == ["string", "int", "float", "double", "strings", "more"])
    let foo = Foo()
    try descriptor["string"].set(foo, value: "hello")
    #expect(foo.string == "hello")
    #expect(throws: EnvironmentError.self) { try descriptor["more"].set(foo, value: "hello") }
  }

  @Test("2: a set of a text, an integer, a float and a double changes the object, and a get returns the value")
  func setting() throws {
    let descriptor = try BeanDescriptor.forClass(Derived.self)
    let foo = Foo()
    try descriptor["string"].set(foo, value: "hello")
    try descriptor["int"].set(foo, value: 1)
    // The original took a literal for the float: descriptors do not convert, declarations do.
    try descriptor["float"].set(foo, value: Float(-1.1))
    try descriptor["double"].set(foo, value: -2.2)
    #expect(foo.string == "hello" && foo.int == 1 && foo.float == -1.1 && foo.double == -2.2)
    #expect(try descriptor["string"].get(foo) as? String == "hello")
  }

  @Test("2: a declaration takes a literal for a float")
  func floatLiteral() throws {
    let environment = try Environment()
    try environment.define(environment.bean(Derived.self).property("float", value: -1.1))
    #expect(try environment.getBean(Derived.self).float == -1.1)
  }

  @Test("3: the type of an array property is known, elements included; an empty one needs no factory")
  func array() throws {
    let property = try BeanDescriptor.forClass(Derived.self)["strings"]
    #expect(ObjectIdentifier(property.getPropertyType()) == ObjectIdentifier([String].self))
    let derived = Derived()
    try property.set(derived, value: ["a"])
    #expect(derived.strings == ["a"])
    try property.set(derived, value: [String]())
    #expect(derived.strings.isEmpty)
  }

  @Test(
    "17: a class by its name, in seven spellings, is found or refused with an error",
    arguments: [
      ("SeedExamples.Acceptance.FooBean", true), ("Acceptance.FooBean", true), ("Acceptance.BarBean", true),
      ("NoSuchModule.Acceptance.FooBean", false), ("Acceptance#FooBean", false), ("Acceptance$FooBean", false),
      ("", false),
    ])
  func classNames(name: String, isFound: Bool) throws {
    do {
      let found = try BeanDescriptor.forClass(name)
      #expect(isFound && "\(found.getBeanClass())" == name.split(separator: ".").last.map(String.init))
    } catch let error as EnvironmentError {
      #expect(!isFound && error.code == .unknownClass, "\(error)")
    }
  }

  @Test("20: the conversion from a text to an integer makes \"4711\" 4711")
  func conversion() throws {
    let conversion = try StandardConversionFactory().getConversion(String.self, targetType: Int.self)
    #expect(try conversion("4711") as? Int == 4711)
    #expect(throws: EnvironmentError.self) { try conversion("bla") }
  }
}
