// Marked listings stand in the article to the letter: see ListingTests.swift.

// listing
import Beans

// end

protocol SwinjectAnimal: Sendable { var name: String { get } }
protocol SwinjectPerson: Sendable { var pet: any SwinjectAnimal { get } }

struct ComingFromSwinject {
  typealias Animal = SwinjectAnimal
  typealias Person = SwinjectPerson

  final class Cat: Animal {
    let name: String
    init(name: String) { self.name = name }
  }

  final class PetOwner: Person {
    let pet: any Animal
    init(pet: any Animal) { self.pet = pet }
  }
}

extension ComingFromSwinject {
  // continued
  func findOwner() throws -> any Person {
    let environment = try Environment(name: "pets")
    try environment
      .define(environment.bean(Cat.self, factory: { Cat(name: "Mimi") }))
      .define(environment.bean(PetOwner.self, factory: PetOwner.init))
    return try environment.getBean((any Person).self)
  }
  // end

  // listing
  final class Mother: Sendable {
    let child: Daughter
    init(child: Daughter) { self.child = child }
  }

  final class Daughter: Sendable {
    private let parent: Lazy<Mother>
    init(parent: Lazy<Mother>) { self.parent = parent }
    func askMother() throws -> Mother { try parent.get() }
  }

  func declareFamily(in environment: Environment) throws {
    try environment
      .define(environment.bean(Mother.self, factory: Mother.init))
      .define(environment.bean(Daughter.self, factory: Daughter.init))
  }
  // end
}
