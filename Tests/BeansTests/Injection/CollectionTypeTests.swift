import Testing

@testable import Beans

@Suite struct CollectionTypeTests {
  @Test func arraysSetsAndDictionariesAreAssembled() throws {
    #expect([Int].assemble([1, 2]) as? [Int] == [1, 2])
    #expect([Int]?.assemble([1]) as? [Int] == [1])
    #expect([Int?].assemble([1, Int?.none as Any]) as? [Int?] == [1, nil])
    #expect(Set<Int>.assemble([1, 1]) as? Set<Int> == [1])
    #expect([String: Int].assemble(["a", 1, "b", 2]) as? [String: Int] == ["a": 1, "b": 2])
    #expect([Int].assemble([]) as? [Int] == [])
  }

  @Test func whatDoesNotFitIsRefused() {
    #expect([Int].assemble(["a"]) == nil)
    #expect(Set<Int>.assemble(["a"]) == nil)
    #expect([String: Int].assemble([1, 1]) == nil)
    #expect([String: Int].assemble(["a", 1, "a", 2]) == nil)
  }

  @Test func listsFitWhatHasNoKeysAndMapsWhatHas() {
    let list = BeanValue.list([.value(1)])
    let map = BeanValue.map([(.value("a"), .value(1))])
    #expect(list.collection(as: Dependency.of([Int].self)) != nil)
    #expect(list.collection(as: Dependency.of([String: Int].self)) == nil)
    #expect(list.collection(as: Dependency.of(Int.self)) == nil)
    #expect(map.collection(as: Dependency.of([String: Int]?.self)) != nil)
    #expect(map.collection(as: Dependency.of(Set<Int>.self)) == nil)
    #expect(BeanValue.list([]).collection(as: Dependency.of([String: Int].self)) != nil)
    #expect(BeanValue.map([]).collection(as: Dependency.of([Int].self)) != nil)
  }
}
