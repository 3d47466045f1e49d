import TestSupport
import Testing

@testable import Beans

@Suite struct ClassInjectionTests {
  @Test func onlyClassesThatSaySomethingAreDescribed() {
    #expect(LifecycleTraits(of: Wrapped.self).contains(.injected))
    #expect(LifecycleTraits(of: Inheriting.self).contains(.injected))
    #expect(LifecycleTraits(of: Described.self).contains(.injected))
    #expect(LifecycleTraits(of: ById.self).contains(.injected))
    #expect(!LifecycleTraits(of: Underscored.self).contains(.injected))
    #expect(!LifecycleTraits(of: Tracked.self).contains(.injected))
  }

  @Test func aWrapperIsCalledAsItsProperty() throws {
    #expect(try ClassInjection.all(of: Inheriting.self).map(\.name) == ["number", "text"])
    #expect(try ClassInjection.all(of: Underscored.self).isEmpty)
  }

  private func path<Owner, Value>(_ path: ReferenceWritableKeyPath<Owner, Value>) -> PropertyInjection {
    PropertyInjection(path, .null, PropertyAccess(path))
  }

  @Test func whatAKeyPathLeadsToIsKnownExactlyOrAsAGuess() throws {
    let wrapped = try #require(ClassInjection.all(of: Wrapped.self).first)
    #expect(PropertyInjection("number", .null).sets(wrapped) == .yes)
    #expect(PropertyInjection("_number", .null).sets(wrapped) == .no)
    #expect(path(\Wrapped.number).sets(wrapped) == .maybe)
    #expect(path(\Wrapped.name).sets(wrapped) == .no)
    let described = try ClassInjection.all(of: Described.self)
    #expect(described.map(\.isSole) == [true, false])
    #expect(path(\Described.sole).sets(described[0]) == .yes)
    #expect(path(\Described.first).sets(described[1]) == .maybe)
    #expect(path(\Described.second).sets(described[1]) == .maybe)
  }

  @Test func aStopgapIsReplacedBySetting() {
    var injected = Injected(1, isStopgap: true)
    #expect(injected.isStopgap)
    injected.wrappedValue = 2
    #expect(!injected.isStopgap && injected.wrappedValue == 2)
    #expect(InjectedById<Int?>("id").wrappedValue == nil)
  }

  private class Wrapped {
    @Injected var number: Int
    var name = ""
  }
  private final class Inheriting: Wrapped {
    @Injected var text: String
  }
  private final class ById {
    @InjectedById("x") var number: Int
  }
  private final class Underscored { var _number = 1 }
  private class Described: BeanDescriptorInitializer {
    var sole = 1
    var first = ""
    var second = ""

    class func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      try beanDescriptor["sole"].autowire()
      try beanDescriptor["first"].autowire()
    }
  }
}
