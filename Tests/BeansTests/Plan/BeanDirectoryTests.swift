import BeansConfiguration
import TestSupport
import Testing

@testable import Beans

@Suite struct BeanDirectoryTests {
  private func entry(
    _ type: Any.Type, _ id: String? = nil, primary: Bool = false, seed: Bool = false, line: UInt = #line
  ) -> (Int32) -> BeanDefinition {
    let spec = BeanSpec(
      type: type, id: id, isPrimary: primary, location: Beans.SourceLocation(file: "Shop.swift", line: line))
    return { number in
      BeanDefinition(
        FrozenSpec(spec), type: type, lifetime: .singleton, factory: .unknown, number: number, isSeed: seed)
    }
  }

  private let here = Beans.SourceLocation(file: "Shop.swift", line: 1)

  /// `ids` adds aliases and templates.
  private func directory(
    _ name: String, in parent: BeanDirectory? = nil, _ entries: [(Int32) -> BeanDefinition],
    ids: [String: BeanDirectory.Meaning] = [:],
    unbuilt: [Int32: BeanDirectory.Unbuilt] = [:]
  ) -> BeanDirectory {
    let beans = entries.enumerated().map { $0.element(Int32($0.offset)) }
    var all = Dictionary(uniqueKeysWithValues: ids.map { (BeanId($0), $1) })
    for bean in beans { if let id = bean.beanId { all[id] = .factory(bean.number) } }
    let declared = entries.indices.map { (number: $0 + 10, bean: Int32($0)) } + unbuilt.keys.map { (Int($0) + 10, -1) }
    return BeanDirectory(
      name: name, scopeName: nil, parent: parent, beans: beans, home: DeclaredBeans(ConfigurationManager()),
      ids: all,
      declared: parent == nil ? declared : [], unbuilt: unbuilt)
  }

  /// Returns "directory/number", or nil.
  private func select(_ type: Any.Type, from directory: BeanDirectory) throws(EnvironmentError) -> String? {
    let found = try directory.select(type)
    let memory = CandidateMemory()
    // The first pass is a search, the second one reads the cached result.
    for _ in 0..<2 {
      let again = try directory.select(type, BeanDirectory.Criteria(), memory)
      #expect(again?.directory === found?.directory && again?.number == found?.number && again?.hops == found?.hops)
    }
    return found.map { "\($0.directory.name)/\($0.number)" }
  }

  // MARK: by type

  @Test func candidatesAreInOrderOfDefinition() {
    let shop = directory("shop", [entry(Dog.self), entry(Stone.self), entry(Animal.self), entry(Cat.self)])
    #expect(shop.candidates(for: Animal.self) == [0, 2, 3])
    #expect(shop.candidates(for: Dog.self) == [0])
    #expect(shop.candidates(for: Stone.self) == [1])
    #expect(shop.candidates(for: (any Loud).self) == [0, 1])
    #expect(shop.candidates(for: (any Loud & Heavy).self) == [1])
    #expect(shop.candidates(for: Puppy.self) == [])
    #expect(shop.candidates(for: Int.self) == [])
  }

  @Test func aProtocolTypeIsFoundByDeclarationsWithIt() {
    let shop = directory("shop", [entry((any Loud).self), entry(Animal.self), entry((any Loud & Heavy).self)])
    #expect(shop.candidates(for: (any Loud).self).contains(0))
    #expect(shop.candidates(for: (any Heavy).self) != [0])
    #expect(shop.candidates(for: Animal.self) == [1])
  }

  @Test func aSeedIsFoundByItsOwnTypeOnly() throws {
    let shop = directory("shop", [entry(Dog.self, seed: true)])
    #expect(shop.candidates(for: Dog.self) == [0])
    #expect(shop.candidates(for: Animal.self) == [])
    #expect(shop.candidates(for: (any Loud).self) == [])
    #expect(shop.types.map { ObjectIdentifier($0) } == [ObjectIdentifier(Dog.self)])
  }

  @Test func theNearestBeanWins() throws {
    let shop = directory("shop", [entry(Dog.self), entry(Cat.self)])
    let session = directory("session", in: shop, [entry(Puppy.self)])
    let request = directory("request", in: session, [])
    #expect(try select(Animal.self, from: request) == "session/0")
    #expect(try select(Dog.self, from: request) == "session/0")
    #expect(try select(Cat.self, from: request) == "shop/1")
    #expect(try select(Stone.self, from: request) == nil)
    let found = try request.select(Cat.self)
    #expect(found?.hops == 2)
    #expect(found.map { ObjectIdentifier($0.type) } == ObjectIdentifier(Cat.self))
  }

  @Test func theDeclaredTypeComesBeforeThoseThatFit() throws {
    let shop = directory("shop", [entry(Dog.self), entry(Animal.self), entry(Puppy.self)])
    #expect(try select(Animal.self, from: shop) == "shop/1")
    #expect(try select(Dog.self, from: shop) == "shop/0")
    let loud = directory("loud", [entry(Dog.self), entry((any Loud).self)])
    #expect(try select((any Loud).self, from: loud) == "loud/1")
  }

  @Test func onePrimaryBeanOfSeveralIsSelected() throws {
    let shop = directory("shop", [entry(Dog.self), entry(Cat.self, primary: true), entry(Puppy.self)])
    #expect(try select(Animal.self, from: shop) == "shop/1")
    let same = directory("same", [entry(Dog.self, "a"), entry(Dog.self, "b", primary: true), entry(Dog.self, "c")])
    #expect(try select(Dog.self, from: same) == "same/1")
  }

  @Test func severalBeansAreAmbiguous() throws {
    let none = directory("none", [entry(Dog.self, "rex", line: 7), entry(Cat.self, line: 8)])
    let error = #expect(throws: EnvironmentError.self) { try select(Animal.self, from: none) }
    #expect(error?.code == .ambiguousBean)
    for part in ["2 beans", "Animal", "Dog 'rex'", "Shop.swift:7", "Cat", "Shop.swift:8"] {
      #expect(error?.message.contains(part) == true, "\(part)")
    }
    let both = directory("both", [entry(Dog.self, primary: true), entry(Cat.self, primary: true)])
    #expect(code { try select(Animal.self, from: both) } == .ambiguousBean)
    // The lookup is ambiguous, even if there is only one further out.
    let outer = directory("outer", [entry(Animal.self)])
    let inner = directory("inner", in: outer, [entry(Dog.self), entry(Cat.self)])
    #expect(code { try select(Animal.self, from: inner) } == .ambiguousBean)
    #expect(try select(Animal.self, from: outer) == "outer/0")
  }

  @Test func anIdThatIsUsedForSomethingElseNearerHidesTheBean() throws {
    let shop = directory("shop", [entry(Dog.self, "pet"), entry(Cat.self, "other")])
    let session = directory("session", in: shop, [entry(Stone.self, "pet")])
    #expect(try select(Animal.self, from: session) == "shop/1")
    #expect(try select(Dog.self, from: session) == nil)
    #expect(session.hides(shop.beans[0], hops: 1))
    #expect(!session.hides(shop.beans[1], hops: 1))
    #expect(!session.hides(session.beans[0], hops: 0))
    #expect(!shop.hides(shop.beans[0], hops: 0))
    // The same holds further in; an id that is used further out still hides nothing.
    let request = directory("request", in: session, [])
    #expect(request.hides(shop.beans[0], hops: 2))
    #expect(!request.hides(session.beans[0], hops: 1))
    #expect(try select(Stone.self, from: request) == "session/0")
  }

  @Test func typesOfBeansAreListedOnceInOrder() {
    let shop = directory("shop", [entry(Puppy.self), entry(Cat.self), entry(Stone.self), entry((any Loud).self)])
    #expect(
      shop.types.map { ObjectIdentifier($0) }
        == ([Puppy.self, Dog.self, Animal.self, Cat.self, Stone.self, (any Loud).self] as [Any.Type])
        .map { ObjectIdentifier($0) })
  }

  // MARK: by id

  @Test func theNearestIdWins() throws {
    let shop = directory("shop", [entry(Dog.self, "pet"), entry(Cat.self, "cat")])
    let session = directory("session", in: shop, [entry(Stone.self, "pet")])
    let (pet, cat) = (try session.bean(id: "pet"), try session.bean(id: "cat"))
    #expect(pet.directory === session && pet.number == 0 && pet.hops == 0)
    #expect(cat.directory === shop && cat.number == 1 && cat.hops == 1)
  }

  @Test func anAliasMayNameABeanFurtherOut() throws {
    let shop = directory("shop", [entry(Dog.self, "pet")])
    let session = directory(
      "session", in: shop, [],
      ids: ["animal": .outer(BeanId("pet"))])
    let request = directory(
      "request", in: session, [entry(Stone.self, "pet")],
      ids: [
        "alias": .outer(BeanId("animal")),
        "own": .factory(0),
        "lost": .outer(BeanId("nothing")),
      ])
    // The search passes over the nearer bean of that name.
    for id in ["alias", "animal"] {
      let found = try request.bean(id: id)
      #expect(found.directory === shop && found.number == 0 && found.hops == 2, "\(id)")
    }
    let own = try request.bean(id: "own")
    #expect(own.directory === request && own.hops == 0)
    #expect(code { try request.bean(id: "lost") } == .unknownBean)
  }

  @Test func anIdWithoutABeanIsRefusedWithTheReason() throws {
    let shop = directory(
      "shop", [entry(Dog.self, "database")],
      ids: [
        "template": .declaration(1),
        "broken": .declaration(2),
      ],
      unbuilt: [
        1: BeanDirectory.Unbuilt(type: nil, id: nil, isAbstract: true, location: here),
        2: BeanDirectory.Unbuilt(type: nil, id: nil, isAbstract: false, location: here),
      ])
    let session = directory("session", in: shop, [])
    func message(_ id: String) -> String {
      let error = #expect(throws: EnvironmentError.self) { try session.bean(id: id) }
      #expect(error?.code == .unknownBean)
      #expect(error?.path == ["'\(id)'"])
      return error?.message ?? ""
    }
    #expect(message("template").contains("abstract"))
    #expect(message("broken").contains("errors of its own"))
    #expect(message("databse").hasSuffix("; did you mean 'database'?"))
    #expect(!message("unlike anything").contains("did you mean"))
  }

  @Test func aDeclarationIsFoundFromFurtherIn() {
    let shop = directory("shop", [entry(Dog.self), entry(Cat.self)])
    let session = directory("session", in: shop, [entry(Stone.self)])
    let found = session.bean(declared: 11)
    #expect(found?.directory === shop)
    #expect(found?.number == 1)
    #expect(found?.hops == 1)
    #expect(session.bean(declared: 12) == nil)
  }

  @Test func theChainLeadsOutward() {
    let shop = directory("shop", [])
    let request = directory("request", in: directory("session", in: shop, []), [])
    #expect(request.chain.map { "\($0.hops) \($0.directory.name)" } == ["0 request", "1 session", "2 shop"])
  }
}

private protocol Loud {}
private protocol Heavy {}
private class Animal {}
private class Dog: Animal, Loud {}
private final class Puppy: Dog {}
private final class Cat: Animal {}
private struct Stone: Loud, Heavy {}
