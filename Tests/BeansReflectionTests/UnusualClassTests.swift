import TestSupport
import BeansErrors
import Distributed
import Testing

@testable import BeansReflection

/// Classes whose layout or whose rules differ from those of plain ones.
@Suite struct UnusualClassTests {
  private func property(_ type: AnyClass, _ name: String) throws -> PropertyDescriptor {
    try BeanDescriptor.forClass(type).getProperty(name)
  }

  @Test func propertiesOfGenericClassesAreAccessible() throws {
    let holder = Holder<[Kinds.Dog]>([])
    let dogs = [Kinds.Dog(), Kinds.Dog()]
    try property(Holder<[Kinds.Dog]>.self, "value").set(holder, value: dogs)
    #expect(holder.value.count == 2)
    #expect(code { try property(Holder<[Kinds.Dog]>.self, "value").set(holder, value: [1]) } == .typeMismatch)
    #expect(code { try property(Holder<Int>.self, "value").set(holder, value: 1) } == .typeMismatch)
    for name in ["before", "after"] { #expect(try property(Holder<Int>.self, name).get(Holder(1)) as? UInt8 == 7) }
  }

  /// In a generic class, functions and metatypes have their general form, in others not; both are refused.
  @Test func functionsInGenericClassesAreRefused() throws {
    #expect(code { try property(Holder<() -> Int>.self, "value").get(Holder { 1 }) } == .invalidDeclaration)
    #expect(code { try property(Holder<Int.Type>.self, "value").get(Holder(Int.self)) } == .invalidDeclaration)
  }

  @Test func noncopyableValuesAreRefused() throws {
    let holder = Holder(Kinds.Unique())
    #expect(code { try property(Holder<Kinds.Unique>.self, "value").get(holder) } == .invalidDeclaration)
    #expect(code { try property(Holder<Kinds.Unique>.self, "value").set(holder, value: 1) } == .invalidDeclaration)
    try property(Holder<Kinds.Unique>.self, "after").set(holder, value: UInt8(8))
    #expect(holder.after == 8)
    #expect(holder.value.number == 1)
  }

  @Test func parameterPacksAreAccessibleAsTuples() throws {
    let pack = Pack(1, "two")
    let property = try property(Pack<Int, String>.self, "values")
    try property.set(pack, value: (2, "three"))
    #expect(pack.values == (2, "three"))
    #expect(code { try property.set(pack, value: ("three", 2)) } == .typeMismatch)
  }

  @Test func propertiesOfActorsAreRefused() throws {
    let actor = Account()
    #expect(code { try property(Account.self, "balance").get(actor) } == .invalidDeclaration)
    #expect(code { try property(Account.self, "balance").set(actor, value: 1) } == .invalidDeclaration)
  }

  @Test func propertiesOfDistributedActorsAreRefused() throws {
    let balance = try property(RemoteAccount.self, "balance")
    #expect(code { try balance.checkWritable() } == .invalidDeclaration)
    #expect(code { try balance.get(Kinds.Stone()) } == .invalidDeclaration)
    #expect(!balance.accepts(1))
  }

  @Test func subclassesOfOtherModulesAreAccessible() throws {
    let derived = Derived(name: "base")
    try property(Derived.self, "extra").set(derived, value: 5)
    #expect(derived.extra == 5)
    #expect(try property(Derived.self, "name").get(derived) as? String == "base")
    #expect(code { try property(Derived.self, "name").set(derived, value: "x") } == .invalidDeclaration)
  }

  /// A subclass may reuse the name of a private property of its superclass: the nearer of the two is found by name.
  @Test func propertiesOfTheSameNameAreFoundNearestFirst() throws {
    let descriptor = try BeanDescriptor.forClass(Kinds.Everything.self)
    let everything = Kinds.Everything(owner: Kinds.Animal())
    let both = descriptor.getProperties().filter { $0.getName() == "secret" }
    #expect(try both.map { try $0.get(everything) as? String } == ["root", "everything"])
    #expect(try descriptor.getProperty("secret").get(everything) as? String == "everything")
    #expect(try descriptor.getSuperBean()?.getProperty("secret").get(everything) as? String == "root")
    try both[0].set(everything, value: "changed")
    #expect(try both.map { try $0.get(everything) as? String } == ["changed", "everything"])
  }

  @Test func propertiesOfLocalClassesAreAccessible() throws {
    final class Local: Kinds.Root, @unchecked Sendable { var own: Int? = 1 }
    let local = Local()
    try property(Local.self, "own").set(local, value: 2)
    #expect(local.own == 2)
    #expect(try property(Local.self, "count").get(local) as? Int == 1)
  }
}

private final class Holder<Value: ~Copyable> {
  var before: UInt8 = 7
  var value: Value
  var after: UInt8 = 7
  init(_ value: consuming Value) { self.value = value }
}
private final class Pack<each Value> {
  var values: (repeat each Value)
  init(_ value: repeat each Value) { values = (repeat each value) }
}
private actor Account { var balance = 0 }
private distributed actor RemoteAccount {
  typealias ActorSystem = LocalTestingDistributedActorSystem
  var balance = 0
}
private final class Derived: Named { var extra = 1 }
