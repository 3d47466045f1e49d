import TestSupport
import Testing

@testable import BeansReflection

@Suite struct TypeRelationTests {
  private func isUsable(_ type: Any.Type, _ wanted: Any.Type) -> Bool { TypeRelation.isUsable(type, as: wanted) }

  @Test func everyTypeIsUsableAsItself() {
    for type in [Int.self, Base.self, (any Plain).self, Any.self, AnyObject.self, (Int, Int).self] as [Any.Type] {
      #expect(isUsable(type, type))
    }
  }

  @Test func subclassesAreUsableAsTheirSuperclasses() {
    #expect(isUsable(Derived.self, Base.self))
    #expect(!isUsable(Base.self, Derived.self))
    #expect(!isUsable(Int.self, Base.self))
    #expect(!isUsable(Base.self, Int.self))
    #expect(
      ClassHierarchy.classes(of: Derived.self).map { ObjectIdentifier($0) } == [
        ObjectIdentifier(Derived.self), ObjectIdentifier(Base.self),
      ])
    #expect(ClassHierarchy.classes(of: Int.self).isEmpty)
    #expect(ClassHierarchy.classes(of: (any Bound).self).isEmpty)
  }

  @Test func conformingTypesAreUsableAsTheirProtocols() {
    #expect(isUsable(Derived.self, (any Plain).self))
    #expect(isUsable(Value.self, (any Plain).self))
    #expect(!isUsable(Value.self, (any Bound).self))
    #expect(isUsable(Derived.self, (any Bound).self))
    #expect(!isUsable(Base.self, (any Bound).self))
    #expect(!isUsable((Int, Int).self, (any Plain).self))
    #expect(!isUsable((() -> Void).self, (any Plain).self))
    #expect(!isUsable(Value.Type.self, (any Plain).self))
  }

  @Test func inheritedConformancesAreRecognized() {
    #expect(isUsable(Grandchild.self, (any Bound).self))
    #expect(isUsable(Value.self, (any Refined).self))
  }

  @Test func compositionsRequireAllTheirMembers() {
    #expect(isUsable(Derived.self, (any Plain & Bound).self))
    #expect(!isUsable(Value.self, (any Plain & Bound).self))
    #expect(isUsable(Derived.self, (any Base & Plain).self))
    #expect(!isUsable(Other.self, (any Base & Plain).self))
    #expect(!isUsable(Value.self, (any Base & Plain).self))
    #expect(isUsable(Derived.self, (any Base & Sendable).self))
    #expect(!isUsable(Value.self, (any Plain & AnyObject).self))
    #expect(isUsable(Derived.self, (any Plain & AnyObject).self))
  }

  @Test func protocolsWithASuperclassRequireIt() {
    #expect(isUsable(Derived.self, (any Based).self))
    #expect(!isUsable(Other.self, (any Based).self))
  }

  @Test func genericClassesAreDistinguishedByTheirArguments() {
    #expect(isUsable(Generic<Int>.self, Generic<Int>.self))
    #expect(!isUsable(Generic<Int>.self, Generic<String>.self))
    #expect(isUsable(GenericChild.self, Generic<Int>.self))
    #expect(isUsable(Generic<Int>.self, (any Bound).self))
    #expect(!isUsable(Generic<String>.self, (any Bound).self))
    #expect(isUsable(Generic<Generic<Int>>.self, AnyObject.self))
  }

  @Test func localTypesAreUsableAsTheirProtocols() {
    struct Local: Plain {}
    final class LocalClass: Bound {}
    #expect(isUsable(Local.self, (any Plain).self))
    #expect(isUsable(LocalClass.self, (any Bound).self))
    #expect(!isUsable(Local.self, (any Error).self))
  }

  @Test func anyAcceptsAllTypesAndAnyObjectOnlyClasses() {
    for type in [Int.self, Base.self, (any Plain).self, (Int, Int).self, Value?.self] as [Any.Type] {
      #expect(isUsable(type, Any.self))
      #expect(isUsable(type, (any Sendable).self))
    }
    #expect(isUsable(Base.self, AnyObject.self))
    #expect(!isUsable(Int.self, AnyObject.self))
    #expect(!isUsable(Value.self, AnyObject.self))
  }

  @Test func errorsAreUsableAsAnyError() {
    #expect(isUsable(Boom.self, (any Error).self))
    #expect(isUsable(ErrorClass.self, (any Error).self))
    #expect(!isUsable(Base.self, (any Error).self))
    #expect(isUsable(ErrorClass.self, (any Error & Plain).self))
    #expect(!isUsable(Boom.self, (any Error & Plain).self))
  }

  @Test func constrainedExistentialsAreOnlyThemselves() {
    #expect(isUsable((any Collection<Int>).self, (any Collection<Int>).self))
    #expect(!isUsable([Int].self, (any Collection<Int>).self))
    #expect(!isUsable((any Collection<Int>).self, (any Collection<String>).self))
    #expect(isUsable((any Collection<Int>).self, Any.self))
    #expect(TypeRelation.isExistential((any Collection<Int>).self))
  }

  @Test func existentialsAreRecognized() {
    for type in [(any Plain).self, Any.self, AnyObject.self, (any Error).self, (any Base & Plain).self] as [Any.Type] {
      #expect(TypeRelation.isExistential(type))
    }
    for type in [Base.self, Int.self, (Int, Int).self, (() -> Void).self, (any Plain).Type.self, Int?.self]
      as [Any.Type]
    {
      #expect(!TypeRelation.isExistential(type))
    }
  }
}

private protocol Plain {}
private protocol Refined: Plain {}
private protocol Bound: AnyObject {}
private protocol Based: Base {}
private class Base {}
private class Derived: Base, Plain, Bound, Based, @unchecked Sendable {}
private final class Grandchild: Derived, @unchecked Sendable {}
private final class Other: Plain {}
private struct Value: Refined {}
private class Generic<Element> {}
extension Generic: Bound where Element == Int {}
private final class GenericChild: Generic<Int> {}
private final class ErrorClass: Error, Plain {}
