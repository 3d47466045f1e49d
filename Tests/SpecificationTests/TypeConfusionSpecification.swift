import Beans
import Testing

/// Declarations whose static types differ from the built objects must end in a fault, never in a misread object.
@Suite("Types that differ from their objects", .timeLimit(.minutes(20)))
struct TypeConfusionSpecification {
  @FreshEnvironment private var environment

  @Test("A template that makes a value serves a bean of a protocol as such, or is a type mismatch")
  func aValueTemplateDoesNotServeAProtocolUnconverted() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      try environment.define(environment.bean(Point.self, id: "t", abstract: true, factory: { Point(x: 7) }))
      try environment.define(environment.bean((any Shape).self, parent: "t"))
      let found = Result { try environment.getBean((any Shape).self).size }
      switch found {
      case .success(let size): #expect(size == 7)
      case .failure(let error): #expect((error as? EnvironmentError)?.code == .typeMismatch)
      }
    }
  }

  @Test("A template that makes an object serves a bean of a protocol as such, or is a type mismatch")
  func aClassTemplateDoesNotServeAProtocolUnconverted() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      try environment.define(environment.bean(Circle.self, id: "t", abstract: true, factory: { Circle() }))
      try environment.define(environment.bean((any Shape).self, parent: "t"))
      let found = Result { try environment.getBean((any Shape).self).size }
      switch found {
      case .success(let size): #expect(size == 1)
      case .failure(let error): #expect((error as? EnvironmentError)?.code == .typeMismatch)
      }
    }
  }

  @Test("A factory of a superclass is not used as one of the class that a metatype holds")
  func aFactoryOfASuperclassIsNotTakenForTheMetatypesClass() throws {
    let type: Circle.Type = WideCircle.self
    try environment.define(environment.bean(type, factory: { Circle() }))
    // The factory is only known to create circles.
    #expect(code { try environment.getBean(WideCircle.self) } != nil)
  }

  @Test("A post processor may be declared as the protocol")
  func postProcessorsDeclaredAsTheProtocolWork() throws {
    let seen = Counter()
    try environment.define(
      environment.bean((any BeanPostProcessor).self, factory: { Inspector { if $0 is Circle { seen.increment() } } }))
    try environment.define(environment.bean(Circle.self, factory: { Circle() })).startup()
    #expect(seen.value == 1)
  }

  @Test("A scope may be declared as the protocol")
  func scopesDeclaredAsTheProtocolWork() throws {
    try environment.define(
      environment.bean((any BeanScope).self, factory: { AbstractBeanScope(name: "own") as any BeanScope }))
    try environment.define(environment.bean(Circle.self, factory: { Circle() }).scope("own"))
    #expect(try environment.getBean(Circle.self) === environment.getBean(Circle.self))
  }

  @Test("A class-bound protocol may be a bean's own type")
  func classBoundProtocolsAsABeansOwnType() throws {
    let journal = Journal()
    try environment.define(
      environment.bean((any Round).self, factory: { Circle() as any Round })
        .postConstruct { journal.note("post \($0.size)") }.onDestroy { journal.note("destroy \($0.size)") })
    try environment.define(environment.bean(Holder<any Round>.self, factory: Holder<any Round>.init))
    try environment.startup()
    #expect(try environment.getBean(Holder<any Round>.self).value === environment.getBean((any Round).self))
    #expect(try environment.getBean((any Round)?.self)?.size == 1)
    #expect(try environment.getBeansByType((any Round).self).count == 1)
    try environment.shutdown()
    #expect(journal.entries == ["post 1", "destroy 1"])
  }

  @Test("A composition of a class and a protocol may be a bean's own type")
  func compositionsAsABeansOwnType() throws {
    typealias Both = any Circle & Named
    try environment.define(environment.bean(Both.self, factory: { NamedCircle() as Both }))
    try environment.define(environment.bean(Holder<Both>.self, factory: Holder<Both>.init))
    #expect(try environment.getBean(Holder<Both>.self).value.name == "circle")
    #expect(try environment.getBean(Both.self).size == 1)
  }

  @Test("A post processor receives the instance behind a protocol type")
  func aPostProcessorSeesTheInstanceBehindAProtocolType() throws {
    let seen = Counter()
    try environment.define(
      environment.bean(Inspector.self, factory: { Inspector { if $0 is Circle { seen.increment() } } }))
    try environment.define(environment.bean((any Round).self, factory: { Circle() as any Round }))
    try environment.define(environment.bean((any Shape).self, factory: { Point(x: 3) as any Shape }))
    #expect(try environment.getBean((any Shape).self).size == 3)
    #expect(seen.value == 1)
  }

  @Test("A replacement that does not conform to the bean's protocol is a type mismatch")
  func aReplacementOfAnotherTypeIsAFault() throws {
    try environment.define(environment.bean(ReplacingProcessor.self, factory: ReplacingProcessor.init))
    try environment.define(environment.bean((any Round).self, factory: { Circle() as any Round }))
    #expect(code { try environment.startup() } == .typeMismatch)
  }

  @Test("any Error may be a bean's own type")
  func aBeanOfTypeErrorIsRead() throws {
    try environment.define(environment.bean((any Error).self, factory: { Boom() as any Error }))
    try environment.define(environment.bean(Holder<any Error>.self, factory: Holder<any Error>.init))
    #expect(try environment.getBean((any Error).self) is Boom)
    #expect(try environment.getBean(Holder<any Error>.self).value is Boom)
    #expect(try environment.getBean((any Error)?.self) is Boom)
  }

  @Test("A class that is an error is found as any Error")
  func aClassThatIsAnErrorIsFoundAsOne() throws {
    try environment.define(environment.bean(Failure.self, factory: { Failure() }))
    #expect(try environment.getBean((any Error).self) as? Failure === environment.getBean(Failure.self))
  }

  @Test("Any and AnyObject may be beans' own types")
  func anyAndAnyObjectAsABeansOwnType() throws {
    try environment.define(environment.bean(Any.self, factory: { 7 as Any }))
    try environment.define(environment.bean(AnyObject.self, factory: { Circle() as AnyObject }))
    #expect(try environment.getBean(Any.self) as? Int == 7)
    #expect(try environment.getBean(AnyObject.self) is Circle)
  }

  @Test("A class is found as AnyObject, and everything as Any")
  func aClassIsFoundAsAnyObject() throws {
    try environment.define(environment.bean(Circle.self, factory: { Circle() }))
    try environment.define(environment.bean(7))
    #expect(try environment.getBean(AnyObject.self) === environment.getBean(Circle.self))
    #expect(try environment.getBeansByType(AnyObject.self).count == 1)
    #expect(try environment.getBeansByType(Any.self).count == 2)
  }

  @Test("A constrained protocol may be a bean's own type")
  func constrainedProtocolsAsABeansOwnType() throws {
    try environment.define(environment.bean((any Collection<Int>).self, factory: { [1, 2] as any Collection<Int> }))
    try environment.define(
      environment.bean(Holder<any Collection<Int>>.self, factory: Holder<any Collection<Int>>.init))
    #expect(try environment.getBean((any Collection<Int>).self).count == 2)
    #expect(try environment.getBean(Holder<any Collection<Int>>.self).value.count == 2)
    #expect(code { try environment.getBean((any Collection<String>).self) } == .unknownBean)
  }
}

private protocol Shape { var size: Int { get } }
private protocol Round: AnyObject, Shape {}
private protocol Named { var name: String { get } }
private struct Point: Shape {
  let x: Int
  let y = 0, z = 0, w = 0
  var size: Int { x }
}
private class Circle: Round {
  var size: Int { 1 }
}
private final class WideCircle: Circle {
  let width = 4
}
private final class NamedCircle: Circle, Named {
  let name = "circle"
}
private final class Failure: Error {}
private final class Holder<Value> {
  let value: Value
  init(_ value: Value) { self.value = value }
}

private final class ReplacingProcessor: BeanPostProcessor {
  func process(_ bean: AnyObject) -> AnyObject { Failure() }
}
