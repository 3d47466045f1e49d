import Beans
import BeansInject
import Testing

@Suite("Reflection") struct ReflectionSpecification {
  // MARK: properties

  @Test("Every stored property of any class can be read and set by name, private and inherited ones included")
  func getAndSet() throws {
    let descriptor = try BeanDescriptor.forClass(Printer.self)
    let printer = Printer()
    try descriptor["name"].set(printer, value: "laser")
    try descriptor["pages"].set(printer, value: 12)
    try descriptor["paper"].set(printer, value: Paper.letter)
    try descriptor["cable"].set(printer, value: Usb())
    #expect(printer.summary == "laser 12 letter usb")
    #expect(try descriptor["pages"].get(printer) as? Int == 12)
    #expect(try descriptor["cable"].get(printer) is Usb)
  }

  @Test("Types are the declared ones, and available without an instance")
  func types() throws {
    let descriptor = try BeanDescriptor.forClass(Printer.self)
    let properties = descriptor.getProperties()
    #expect(properties.map { $0.getName() } == ["name", "serial", "pages", "paper", "cable", "neighbour", "finish"])
    #expect(descriptor.getProperties(local: true).count == 5)
    let types = properties.map { ObjectIdentifier($0.getPropertyType()) }
    #expect(
      types.prefix(6).elementsEqual([
        ObjectIdentifier(String.self), ObjectIdentifier(Int.self), ObjectIdentifier(Int.self),
        ObjectIdentifier(Paper.self), ObjectIdentifier((any Cable).self), ObjectIdentifier(Printer.self),
      ]))
    #expect(properties.map { $0.isOptional() } == [false, false, false, true, false, true, false])
  }

  @Test("Inherited properties are described by the subclass and can be set on instances of the superclass")
  func inheritedProperties() throws {
    let device = Device()
    try BeanDescriptor.forClass(Printer.self)["name"].set(device, value: "device")
    #expect(device.name == "device")
    #expect(throws: EnvironmentError(.typeMismatch, "")) {
      try BeanDescriptor.forClass(Printer.self)["pages"].set(device, value: 1)
    }
  }

  @Test("nil is for optionals only")
  func nilValues() throws {
    let descriptor = try BeanDescriptor.forClass(Printer.self)
    let printer = Printer()
    try descriptor["paper"].set(printer, value: Paper.a4)
    try descriptor["paper"].set(printer, value: nil)
    #expect(try descriptor["paper"].get(printer) == nil)
    #expect(throws: EnvironmentError(.typeMismatch, "")) { try descriptor["name"].set(printer, value: nil) }
  }

  @Test("A value of another type is refused, and the property keeps its own")
  func wrongTypes() throws {
    let descriptor = try BeanDescriptor.forClass(Printer.self)
    let printer = Printer()
    for (name, value) in [("name", 1), ("pages", "1"), ("pages", 1.0), ("paper", "a4"), ("cable", Device())]
      as [(String, Any)]
    {
      #expect(throws: EnvironmentError(.typeMismatch, "")) { try descriptor[name].set(printer, value: value) }
    }
    #expect(printer.summary == "device 0 none usb")
  }

  @Test("Weak properties stay weak")
  func weakProperties() throws {
    let neighbour = try BeanDescriptor.forClass(Printer.self)["neighbour"]
    let printer = Printer()
    var other: Printer? = Printer()
    try neighbour.set(printer, value: other)
    #expect(try neighbour.get(printer) as? Printer === other)
    other = nil
    #expect(try neighbour.get(printer) == nil)
  }

  @Test("Constants and functions are described, but not set")
  func refusedProperties() throws {
    let descriptor = try BeanDescriptor.forClass(Printer.self)
    let printer = Printer()
    #expect(throws: EnvironmentError(.invalidDeclaration, "")) { try descriptor["serial"].set(printer, value: 2) }
    #expect(try descriptor["serial"].get(printer) as? Int == 1)
    #expect(throws: EnvironmentError(.invalidDeclaration, "")) {
      try descriptor["finish"].set(printer, value: { (_: Int) in })
    }
  }

  @Test("An unknown property is an error that names near misses")
  func unknownProperty() throws {
    let descriptor = try BeanDescriptor.forClass(Printer.self)
    #expect(descriptor.findProperty("pagse") == nil)
    try requireFault(.unknownProperty, message: "'pages'") { try descriptor["pagse"] }
  }

  // MARK: classes

  @Test("Classes are found by qualified name, by nested name, and by a bare name that is unique")
  func classNames() throws {
    for name in ["SpecificationTests.ReflectedByName", "ReflectedByName"] {
      #expect(try BeanDescriptor.forClass(name).getBeanClass() is ReflectedByName.Type)
    }
    for name in ["SpecificationTests.ReflectedByName.Inner", "ReflectedByName.Inner"] {
      #expect(try BeanDescriptor.forClass(name).getBeanClass() is ReflectedByName.Inner.Type)
    }
  }

  @Test(
    "Any text is at most an unknown class",
    arguments: [
      "ReflectedByNam", "Reflected#ByName", "ReflectedByName$Inner", "Swift.String", "", ".", "$s",
      "Nowhere.ReflectedByName",
    ])
  func unknownClasses(name: String) {
    #expect(throws: EnvironmentError(.unknownClass, "")) { try BeanDescriptor.forClass(name) }
  }

  @Test("Descriptors have their superclass, their subclasses so far, and the protocols declared for them")
  func hierarchy() throws {
    let printer = try BeanDescriptor.forInstance(Printer())
    #expect(try printer.getSuperBean() === BeanDescriptor.forType(Device.self))
    #expect(try BeanDescriptor.forClass(Device.self).getSubBeans().contains { $0 === printer })
    try printer.implements((any Summarized).self)
    #expect(throws: EnvironmentError(.typeMismatch, "")) { try printer.implements((any Cable).self) }
    #expect(throws: EnvironmentError(.invalidDeclaration, "")) { try printer.implements(Device.self) }
    #expect(throws: EnvironmentError(.typeMismatch, "")) { try BeanDescriptor.forType(Paper.self) }
  }

  @Test("A class that cannot be described fails every time, and not only the first")
  func failingInitializer() {
    for _ in 0..<2 {
      #expect(throws: EnvironmentError(.unknownProperty, "")) { try BeanDescriptor.forClass(Misdescribed.self) }
    }
  }
}

private protocol Cable: Sendable {}
private protocol Summarized { var summary: String { get } }
private struct Usb: Cable {}
private enum Paper { case a4, letter }
private class Device {
  fileprivate(set) var name = "device"
  let serial = 1
}
private final class Printer: Device, Summarized {
  private var pages = 0
  private var paper: Paper?
  private var cable: any Cable = Usb()
  private weak var neighbour: Printer?
  private var finish: (Int) -> Void = { _ in }

  var summary: String { "\(name) \(pages) \(paper.map { "\($0)" } ?? "none") \(cable is Usb ? "usb" : "other")" }
}
private final class Misdescribed: BeanDescriptorInitializer {
  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws { try beanDescriptor["x"].autowire() }
}
class ReflectedByName {
  final class Inner {}
}
