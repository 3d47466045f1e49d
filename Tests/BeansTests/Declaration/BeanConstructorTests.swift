import TestSupport
import Testing

@testable import Beans

@Suite struct BeanConstructorTests {
  private func make(_ constructor: BeanConstructor, _ values: [Any]) throws -> AnyObject {
    let resolved = try zip(constructor.dependencies, values).map { try #require($0.argument(fixed: $1)) }
    // The call takes them over.
    return try ResolvedArguments.with(resolved.count) { arguments in
      arguments.resolve(resolved.count) { resolved[$0] }
      return try constructor.create(Arguments(arguments))
    }
  }

  @Test func noParameters() throws {
    let constructor = try BeanConstructor.factory(Int.self, { 7 })
    #expect(constructor.dependencies.isEmpty)
    #expect((try make(constructor, []) as? ValueBox<Int>)?.value == 7)
  }

  @Test func upToTenParametersOfMixedKinds() throws {
    let counters = Tracked.Counters()
    do {
      let tracked = Tracked(counters)
      func text(_ values: Any...) -> String { values.map { "\($0)" }.joined(separator: ",") }
      let one = try BeanConstructor.factory(String.self, { (a: Int) in text(a) })
      #expect((try make(one, [1]) as? ValueBox<String>)?.value == "1")
      let two = try BeanConstructor.factory(String.self, { (a: Tracked, b: UInt8) in text(a === tracked, b) })
      #expect((try make(two, [tracked, UInt8(2)]) as? ValueBox<String>)?.value == "true,2")
      let three = try BeanConstructor.factory(
        String.self, { (a: Int?, b: Tracked?, c: [Int]) in text(a ?? -1, b === tracked, c) })
      #expect((try make(three, [Int?.none as Any, tracked, [1, 2]]) as? ValueBox<String>)?.value == "-1,true,[1, 2]")
      let five = try BeanConstructor.factory(
        String.self,
        { (a: Int, b: String, c: any DisposableBean, d: (Int, Int), e: Double) in text(a, b, c is Tracked, d.1, e) })
      #expect((try make(five, [1, "b", tracked, (3, 4), 0.5]) as? ValueBox<String>)?.value == "1,b,true,4,0.5")
      let seven = try BeanConstructor.factory(
        String.self,
        { (a: Int, b: Int8, c: Tracked, d: Int16, e: Tracked?, f: Int32, g: Bool) in
          text(a, b, c === tracked, d, e === tracked, f, g)
        })
      #expect(
        (try make(seven, [1, Int8(2), tracked, Int16(4), tracked, Int32(6), true]) as? ValueBox<String>)?.value
          == "1,2,true,4,true,6,true")
      let ten = try BeanConstructor.factory(
        String.self,
        {
          (
            a: Int, b: Tracked, c: String, d: Int?, e: [String], f: UInt8, g: Tracked?, h: any Error, i: Character,
            j: Float
          ) in
          text(a, b === tracked, c, d ?? 0, e, f, g === tracked, h is Boom, i, j)
        })
      let values: [Any] = [1, tracked, "c", 4, ["e"], UInt8(6), tracked, Boom(), Character("i"), Float(10)]
      #expect((try make(ten, values) as? ValueBox<String>)?.value == "1,true,c,4,[\"e\"],6,true,true,i,10.0")
      #expect(ten.dependencies.count == 10)
    }
    #expect(counters.died.value == 1)
  }

  @Test func classesAreNotBoxed() throws {
    let counters = Tracked.Counters()
    let constructor = try BeanConstructor.factory(Tracked.self, { Tracked(counters) })
    #expect(constructor.product == nil)
    #expect(try make(constructor, []) is Tracked)
    #expect(counters.died.value == 1)
  }

  @Test func whatAFactoryThrowsPasses() throws {
    let constructor = try BeanConstructor.factory(Tracked.self, { (_: Int) throws -> Tracked in throw Boom() })
    #expect(throws: Boom.self) { try make(constructor, [1]) }
  }
}

extension BeanConstructor {
  /// What the form for any number of parameters makes; those for the usual numbers serve everywhere else.
  fileprivate static func factory<T, each D>(
    _ type: T.Type, _ factory: @escaping (repeat each D) throws -> T
  ) throws -> BeanConstructor {
    try #require(Environment().bean(type, factory: factory).constructor)
  }
}
