import Beans
import BeansInject
import Testing

// The listings of "How to: create your SUPER simple dependency injector container in Swift", in order.
//
// The first two, `DependeciesContainer` and `DependencyKey`, are the container itself: `DependenciesContainer` in
// BeansInject, with the spelling put right. Changed by Swift 6 below: `Animal.self` and `Person.self` of the protocols are
// `(any Animal).self` and `(any Person).self`.

// The third listing: the registered types.

private protocol Animal {
  func isAlive() -> Bool
}

private class Cat: Animal {
  func isAlive() -> Bool {
    true
  }

  func miaow() -> String {
    return "miaow"
  }
}

private class Dog: Animal {
  func isAlive() -> Bool {
    true
  }

  func bark() -> String {
    return "wooof"
  }
}

private class Tiger: Animal {
  func isAlive() -> Bool {
    true
  }

  func roar() -> String {
    return "roar"
  }
}

private protocol Person {
  func breath() -> String
}

private class SickPerson: Person {
  func breath() -> String {
    return "fiuu"
  }

  func cough() -> String {
    return "cough"
  }
}

// The article prints; here the printed values are expected. Its types have names of the playground,
// `__lldb_expr_7.Dog`: here they belong to this module.

@Suite("The article on the dependencies container") struct DependenciesContainerArticle {
  @Test("The example runs from the first line to the last")
  func example() throws {
    let dc = DependenciesContainer.shared

    // Register using class `Type` Dog
    dc.register(type: Dog.self, service: Dog())
    let dog = dc.resolve(type: Dog.self)!
    #expect(String(describing: type(of: dog)) == "Dog")
    #expect(dog.bark() == "wooof")

    // Register using protocol `Type` Person
    dc.register(type: (any Person).self, service: SickPerson())
    let person = dc.resolve(type: (any Person).self)!
    #expect(String(describing: type(of: person)) == "SickPerson")
    #expect(person.breath() == "fiuu")
    #expect((person as! SickPerson).cough() == "cough")

    // Register using protocol `Type` Animal and variations
    dc.register(type: (any Animal).self, name: "Cat", service: Cat())
    dc.register(type: (any Animal).self, name: "Tiger", service: Tiger())
    let cat = dc.resolve(type: (any Animal).self, name: "Cat")!
    #expect(String(describing: type(of: cat)) == "Cat")
    #expect(cat.isAlive())
    #expect((cat as! Cat).miaow() == "miaow")
    let tiger = dc.resolve(type: (any Animal).self, name: "Tiger")!
    #expect(String(describing: type(of: tiger)) == "Tiger")
    #expect(tiger.isAlive())
    #expect((tiger as! Tiger).roar() == "roar")
  }

  @Test("resolve returns nil if no instance has that combination of type and name")
  func nothing() {
    let dc = DependenciesContainer()
    dc.register(type: (any Animal).self, name: "Cat", service: Cat())
    #expect(dc.resolve(type: (any Animal).self) == nil)
    #expect(dc.resolve(type: (any Animal).self, name: "Dog") == nil)
    #expect(dc.resolve(type: Cat.self, name: "Cat") == nil)
  }

  @Test("A second service of one type and name replaces the first, as in the article's dictionary")
  func overwriting() {
    let dc = DependenciesContainer()
    dc.register(type: (any Animal).self, service: Cat())
    dc.register(type: (any Animal).self, service: Dog())
    #expect(dc.resolve(type: (any Animal).self) is Dog)
  }
}
