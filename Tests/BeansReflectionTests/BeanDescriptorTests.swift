import TestSupport
import BeansErrors
import Testing

@testable import BeansReflection

@Suite struct BeanDescriptorTests {
  // MARK: classes

  @Test func aClassHasOneDescriptor() throws {
    let descriptor = try BeanDescriptor.forClass(Middle.self)
    #expect(try BeanDescriptor.forType(Middle.self) === descriptor)
    #expect(try BeanDescriptor.forInstance(Middle()) === descriptor)
    #expect(try BeanDescriptor.forInstance(Middle() as Top) === descriptor)
    #expect(ObjectIdentifier(descriptor.getBeanClass()) == ObjectIdentifier(Middle.self))
    #expect(try descriptor.getSuperBean() === BeanDescriptor.forClass(Top.self))
    #expect(try BeanDescriptor.forClass(Top.self).getSuperBean() == nil)
  }

  @Test(
    arguments: [Int.self, (any Error).self, AnyObject.self, Int?.self, (Int, Int).self, Top.Type.self, Top?.self]
      as [Any.Type])
  func onlyClassesHaveDescriptors(type: Any.Type) {
    #expect(code { try BeanDescriptor.forType(type) } == .typeMismatch)
  }

  @Test func subclassesAreListedOnceDescribed() throws {
    class Parent {}
    class First: Parent {}
    final class Second: Parent {}
    final class Third: First {}
    let parent = try BeanDescriptor.forClass(Parent.self)
    #expect(parent.getSubBeans().isEmpty)
    let second = try BeanDescriptor.forClass(Second.self)
    #expect(parent.getSubBeans().map { ObjectIdentifier($0) } == [ObjectIdentifier(second)])
    _ = try BeanDescriptor.forClass(Third.self)
    #expect(parent.getSubBeans().map { $0.getBeanClass() == First.self } == [false, true])
  }

  // MARK: properties

  @Test func inheritedPropertiesComeFirst() throws {
    let descriptor = try BeanDescriptor.forClass(Bottom.self)
    #expect(descriptor.getProperties().map { $0.getName() } == ["port", "host", "sink", "depth"])
    #expect(descriptor.getProperties(local: true).map { $0.getName() } == ["depth"])
    #expect(try BeanDescriptor.forClass(Empty.self).getProperties().isEmpty)
  }

  @Test func propertiesAreFoundByName() throws {
    let descriptor = try BeanDescriptor.forClass(Bottom.self)
    #expect(try descriptor.getProperty("port") === descriptor["port"])
    #expect(descriptor.findProperty("port") != nil)
    #expect(descriptor.findProperty("poort") == nil)
    #expect(code { try descriptor["computed"] } == .unknownProperty)
    #expect(
      #expect(throws: EnvironmentError.self) { try descriptor.getProperty("poort") }?.message
        == "Bottom has no stored property 'poort'; did you mean 'port'?")
    #expect(
      #expect(throws: EnvironmentError.self) {
        try BeanDescriptor.forClass(Kinds.Everything.self).getProperty("clamped")
      }?.message.contains("'_clamped'") == true)
  }

  // MARK: injections

  @Test func injectionsAreInheritedAndKeptApart() throws {
    class Parent { var value = 1 }
    final class Child: Parent {}
    final class Sibling: Parent {}
    let parent = try BeanDescriptor.forClass(Parent.self).getProperty("value")
    let child = try BeanDescriptor.forClass(Child.self).getProperty("value")
    let sibling = try BeanDescriptor.forClass(Sibling.self).getProperty("value")
    #expect(parent.injection == nil)
    child.declare(.bean(id: "child"))
    #expect(parent.injection == nil)
    parent.declare(.bean(id: nil))
    #expect(parent.injectedId == .some(nil))
    #expect(child.injectedId == "child")
    #expect(sibling.injectedId == .some(nil))
  }

  @Test func injectionsMayBeSetOnSeveralThreads() throws {
    class Parent { var value = 1 }
    final class Child: Parent {}
    let parent = try BeanDescriptor.forClass(Parent.self)["value"],
      child = try BeanDescriptor.forClass(Child.self)["value"]
    let seen = try onThreads(4) { number -> Int in
      var seen = 0
      for _ in 0..<500 {
        (number.isMultiple(of: 2) ? parent : child).declare(.bean(id: "\(number)"))
        if child.injection != nil { seen += 1 }
      }
      return seen
    }
    #expect(seen[1] == 500 && seen[3] == 500)
  }

  // MARK: implements

  @Test func implementedProtocolsAreChecked() throws {
    final class Listed: Top, Kinds.Shape { var sides: Int { 1 } }
    let descriptor = try BeanDescriptor.forClass(Listed.self)
    try descriptor.implements((any Kinds.Shape).self, (any Base & Kinds.Shape).self)
    try descriptor.implements((any Kinds.Shape).self)
    #expect(descriptor.implemented.count == 2)
    #expect(code { try descriptor.implements((any Base).self, (any Error).self) } == .typeMismatch)
    for type in [Int.self, Top.self, Any.self, AnyObject.self, (any Collection<Int>).self] as [Any.Type] {
      #expect(code { try descriptor.implements(type) } == .invalidDeclaration)
    }
    #expect(descriptor.implemented.count == 2)
  }
}

private protocol Base {}
private class Top: Base {
  private var port = 1
  var host = "h"
  var computed: Int { 1 }
}
private class Middle: Top { var sink: (any Base)? }
private final class Bottom: Middle { var depth = 3.0 }
private final class Empty {}
