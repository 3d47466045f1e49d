import Beans
import Testing

@Suite("Lookup by type and by id") struct LookupSpecification {
  @FreshEnvironment private var environment

  @Test("A bean is found by its type and by its id")
  func byTypeAndId() throws {
    try environment.define(environment.bean(Cat.self, id: "tom"))
    let cat = try environment.getBean(Cat.self)
    #expect(try environment.getBean(Cat.self, byId: "tom") === cat)
  }

  @Test("A type without a bean is an unknown bean that names the type")
  func unknownType() throws {
    try environment.define(environment.bean(Cat.self))
    try requireFault(.unknownBean, description: "Dog") { try environment.getBean(Dog.self) }
  }

  @Test("An unknown id is an unknown bean that names the id")
  func unknownId() throws {
    try environment.define(environment.bean(Cat.self, id: "tom"))
    try requireFault(.unknownBean, description: "jerry") { try environment.getBean(Cat.self, byId: "jerry") }
  }

  @Test("An id of a bean of another type is a type mismatch, never a trap")
  func mismatchedId() throws {
    try environment.define(environment.bean(Cat.self, id: "tom"))
    try requireFault(.typeMismatch, description: "tom", "Cat", "Dog") { try environment.getBean(Dog.self, byId: "tom") }
  }

  @Test("A failed lookup leaves the environment usable")
  func failedLookupIsHarmless() throws {
    try environment.define(environment.bean(Cat.self))
    try requireFault(.unknownBean) { try environment.getBean(Dog.self) }
    _ = try environment.getBean(Cat.self)
  }

  // MARK: superclasses and protocols

  @Test("A bean is found by its superclasses, near and far")
  func bySuperclass() throws {
    try environment.define(environment.bean(Lion.self))
    let lion = try environment.getBean(Lion.self)
    #expect(try environment.getBean(Cat.self) === lion)
    #expect(try environment.getBean(Animal.self) === lion)
  }

  @Test("A superclass bean is not found by its subclass")
  func notBySubclass() throws {
    try environment.define(environment.bean(Cat.self, id: "tom"))
    try requireFault(.unknownBean) { try environment.getBean(Lion.self) }
    try requireFault(.typeMismatch) { try environment.getBean(Lion.self, byId: "tom") }
  }

  @Test("A conformance is found by the container, an inherited one, too")
  func byProtocol() throws {
    try environment.define(environment.bean(Lion.self))
    let purring = try environment.getBean((any Purring).self)
    #expect(try purring as AnyObject === environment.getBean(Lion.self))
    try requireFault(.unknownBean) { try environment.getBean((any Barking).self) }
  }

  @Test("A composition of protocols is found by a bean that conforms to all of them")
  func byComposition() throws {
    try environment.define(environment.bean(Cat.self))
    try environment.define(environment.bean(Sphinx.self))
    #expect(try environment.getBean((any Purring & Barking).self) is Sphinx)
  }

  @Test("A bean declared as a protocol is found by it")
  func declaredAsProtocol() throws {
    try environment.define(environment.bean((any Barking).self, factory: { Dog() as any Barking }))
    #expect(try environment.getBean((any Barking).self) is Dog)
  }

  @Test("Specialisations of a generic class are different types")
  func genericTypes() throws {
    try environment.define(environment.bean(Box<Int>.self, factory: { Box(content: 1) }))
    try environment.define(environment.bean(Box<String>.self, factory: { Box(content: "one") }))
    #expect(try environment.getBean(Box<Int>.self).content == 1)
    #expect(try environment.getBean(Box<String>.self).content == "one")
    try requireFault(.unknownBean) { try environment.getBean(Box<Double>.self) }
  }

  // MARK: implements

  @Test("implements declares a conformance that the container finds anyway")
  func implements() throws {
    try environment.define(environment.bean(Sphinx.self).implements((any Purring).self, (any Barking).self))
    #expect(try environment.getBean((any Barking).self) is Sphinx)
  }

  @Test("implements checks: a class that does not conform is a fault of startup")
  func implementsChecks() throws {
    let (dog, line) = (environment.bean(Dog.self).implements((any Purring).self), #line)
    try environment.define(dog)
    try requireFault(.typeMismatch, .invalidDeclaration, description: "Dog", "Purring", line: line) {
      try environment.startup()
    }
  }

  // MARK: several candidates

  @Test("Beans declared with exactly the type come before subclasses")
  func exactTypeFirst() throws {
    try environment.define(environment.bean(Lion.self))
    try environment.define(environment.bean(Cat.self))
    #expect(try type(of: environment.getBean(Cat.self)) == Cat.self)
  }

  @Test("Beans declared as the protocol come before classes that conform")
  func exactProtocolFirst() throws {
    try environment.define(environment.bean(Sphinx.self))
    try environment.define(environment.bean((any Barking).self, factory: { Dog() as any Barking }))
    #expect(try environment.getBean((any Barking).self) is Dog)
  }

  @Test("Several beans of the type are ambiguous, and the fault lists them")
  func ambiguous() throws {
    try environment.define(environment.bean(Cat.self, id: "tom"))
    try environment.define(environment.bean(Cat.self, id: "felix"))
    try requireFault(.ambiguousBean, description: "tom", "felix") { try environment.getBean(Cat.self) }
    #expect(try environment.getBean(Cat.self, byId: "tom") !== environment.getBean(Cat.self, byId: "felix"))
  }

  @Test("Several subclasses or conforming types are ambiguous")
  func ambiguousSubclasses() throws {
    try environment.define(environment.bean(Cat.self))
    try environment.define(environment.bean(Dog.self))
    try environment.define(environment.bean(Sphinx.self))
    try requireFault(.ambiguousBean) { try environment.getBean(Animal.self) }
    try requireFault(.ambiguousBean) { try environment.getBean((any Barking).self) }
  }

  @Test("primary decides between several")
  func primary() throws {
    try environment.define(environment.bean(Cat.self, id: "tom"))
    try environment.define(environment.bean(Cat.self, id: "felix").primary())
    try environment.define(environment.bean(Dog.self, id: "rex"))
    #expect(try environment.getBean(Cat.self) === environment.getBean(Cat.self, byId: "felix"))
    #expect(try environment.getBean(Animal.self) === environment.getBean(Cat.self, byId: "felix"))
  }

  @Test("primary decides for injected parameters, too")
  func primaryInjected() throws {
    try environment.define(environment.bean(Owner.self, factory: Owner.init))
    try environment.define(environment.bean(Cat.self))
    try environment.define(environment.bean(Dog.self).primary())
    #expect(try environment.getBean(Owner.self).pet is Dog)
  }

  @Test("A primary subclass has no precedence among beans of exactly the type")
  func exactTypeBeforePrimarySubclass() throws {
    try environment.define(environment.bean(Cat.self))
    try environment.define(environment.bean(Lion.self).primary())
    #expect(try type(of: environment.getBean(Cat.self)) == Cat.self)
  }

  @Test("Two primaries are ambiguous again")
  func twoPrimaries() throws {
    try environment.define(environment.bean(Cat.self).primary())
    try environment.define(environment.bean(Cat.self).primary())
    try environment.define(environment.bean(Cat.self))
    try requireFault(.ambiguousBean) { try environment.getBean(Cat.self) }
  }

  // MARK: getBeansByType

  @Test("getBeansByType returns all in order of definition, subclasses included, lazy ones built, templates left out")
  func beansByType() throws {
    try environment.define(environment.bean(Dog.self))
    try environment.define(environment.bean(Cat.self, id: "template", abstract: true))
    try environment.define(environment.bean(Lion.self, lazy: true))
    try environment.define(environment.bean(Cat.self))
    let kinds = try environment.getBeansByType(Animal.self).map { "\(type(of: $0))" }
    #expect(kinds == ["Dog", "Lion", "Cat"])
    #expect(try environment.getBeansByType((any Purring).self).count == 2)
  }

  @Test("getBeansByType of a type without beans is empty")
  func noBeansByType() throws {
    #expect(try environment.getBeansByType(Cat.self).isEmpty)
  }

  @Test("getBeansByType throws the error of one of the beans")
  func failingBeansByType() throws {
    try environment.define(environment.bean(Cat.self))
    try environment.define(environment.bean(Cat.self, lazy: true, factory: { throw Boom() }))
    try requireFault(.creationFailed, causes: [Boom()]) { try environment.getBeansByType(Cat.self) }
  }

  // MARK: withBean

  @Test("withBean lends the bean and returns the result of its body")
  func withBean() throws {
    try environment.define(environment.bean(Cat.self, id: "tom"))
    let cat = try environment.getBean(Cat.self)
    #expect(try environment.withBean(Cat.self) { $0 === cat })
    #expect(try environment.withBean(Animal.self, byId: "tom") { $0 === cat })
  }

  @Test("withBean throws the error of its body unchanged")
  func withBeanThrows() throws {
    try environment.define(environment.bean(Cat.self))
    #expect(throws: Boom()) { try environment.withBean(Cat.self) { _ in throw Boom() } }
  }

  @Test("withBean of an unknown or unfitting bean does not run its body")
  func withUnknownBean() throws {
    try environment.define(environment.bean(Cat.self, id: "tom"))
    let entered = Counter()
    try requireFault(.unknownBean) { try environment.withBean(Dog.self) { _ in entered.increment() } }
    try requireFault(.unknownBean) { try environment.withBean(Cat.self, byId: "jerry") { _ in entered.increment() } }
    try requireFault(.typeMismatch) { try environment.withBean(Dog.self, byId: "tom") { _ in entered.increment() } }
    #expect(entered.value == 0)
  }
}

private protocol Purring {}
private protocol Barking {}

private class Animal: Initializable { required init() {} }
private class Cat: Animal, Purring {}
private final class Lion: Cat {}
private final class Dog: Animal, Barking {}
private final class Sphinx: Animal, Purring, Barking {}

private final class Box<Content> {
  let content: Content
  init(content: Content) { self.content = content }
}

private final class Owner {
  let pet: Animal
  init(pet: Animal) { self.pet = pet }
}
