import Beans
import Testing

@Suite("Startup order") struct StartupOrderSpecification {
  @FreshEnvironment private var environment

  // The class is not private: an optimised build prints a private type's name with its context.
  final class A {}
  final class B {}
  final class C {}

  private let journal = Journal()

  private func noted<T>(_ type: T.Type, in environment: Environment, _ make: @escaping @Sendable () -> T)
    -> TypedBeanDeclaration<
      T
    >
  {
    let journal = journal
    return environment.bean(type, factory: { journal.noting("\(type)", make()) })
  }

  @Test("Independent beans are built in order of definition")
  func definitionOrder() throws {
    try environment.define(noted(B.self, in: environment, B.init))
    try environment.define(noted(C.self, in: environment, C.init))
    try environment.define(noted(A.self, in: environment, A.init)).startup()
    #expect(journal.entries == ["B", "C", "A"])
  }

  @Test("requires(id:) orders construction")
  func requiresId() throws {
    try environment.define(noted(A.self, in: environment, A.init).requires(id: "b"))
    try environment.define(noted(B.self, in: environment, B.init).id("b").requires(id: "c"))
    try environment.define(noted(C.self, in: environment, C.init).id("c")).startup()
    #expect(journal.entries == ["C", "B", "A"])
  }

  @Test("requires of a type orders construction")
  func requiresType() throws {
    try environment.define(noted(A.self, in: environment, A.init).requires(B.self))
    try environment.define(noted(B.self, in: environment, B.init).requires(C.self))
    try environment.define(noted(C.self, in: environment, C.init)).startup()
    #expect(journal.entries == ["C", "B", "A"])
  }

  @Test("A lazy bean that is required is built")
  func requiresLazy() throws {
    try environment.define(noted(A.self, in: environment, A.init).requires(B.self))
    try environment.define(noted(B.self, in: environment, B.init).lazy()).startup()
    #expect(journal.entries == ["B", "A"])
  }

  @Test("A bean of the application that a request's bean requires is built before it, even if it is an argument")
  func requiredFurtherOut() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    let built = Journal()
    try application.define(
      application.bean(Animal.self, id: "required", factory: { built.noting("animal", Animal()) }).lazy())
    try application.define(
      application.bean(Dog.self, factory: { built.noting("dog", Dog()) }).scope("request").requires(id: "required"))
    try application.define(
      application.bean(Kennel.self, factory: { (dog: Dog) in built.noting("kennel", Kennel(dog: dog)) })
        .scope("request"))
    let requests = try application.childFactory("request", seed: Int.self)
    _ = try requests.build(1).getBean(Kennel.self)
    #expect(built.entries == ["animal", "dog", "kennel"])
  }

  @Test("An unknown bean in requires is a fault")
  func requiresUnknown() throws {
    try environment.define(noted(A.self, in: environment, A.init).requires(id: "nowhere"))
    try environment.define(noted(B.self, in: environment, B.init).requires(Box.self))
    try environment.define(noted(C.self, in: environment, C.init).requires(id: "neither"))
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.unknownBean, .unknownBean, .unknownBean])
    for word in ["nowhere", "Box", "neither"] {
      #expect(faults.contains { $0.description.contains(word) })
    }
    #expect(journal.entries.isEmpty)
  }

  @Test("A required type with several candidates is ambiguous")
  func requiresAmbiguous() throws {
    try environment.define(noted(A.self, in: environment, A.init).requires(B.self))
    try environment.define(noted(B.self, in: environment, B.init))
    try environment.define(noted(B.self, in: environment, B.init))
    try requireFault(.ambiguousBean) { try environment.startup() }
  }

  @Test("startup is done once, and returns its environment")
  func idempotent() throws {
    try environment.define(noted(A.self, in: environment, A.init))
    #expect(try environment.startup() === environment)
    try environment.startup()
    _ = try environment.getBean(A.self)
    #expect(journal.entries == ["A"])
  }

  @Test("A first lookup of any kind is a startup")
  func firstLookup() throws {
    let lookups: [(Environment) throws -> Void] = [
      { _ = try $0.getBean(A.self) },
      { _ = try $0.getBeansByType(A.self) },
      { try $0.withBean(A.self) { _ in } },
      { _ = try $0.getBean(B?.self) },
    ]
    for lookup in lookups {
      let environment = try Environment()
      try environment.define(noted(A.self, in: environment, A.init))
      try environment.define(noted(C.self, in: environment, C.init))
      try lookup(environment)
    }
    #expect(journal.entries == ["A", "C", "A", "C", "A", "C", "A", "C"])
  }

  @Test("A lookup inside a factory builds its bean on the way")
  func lookupDuringStartup() throws {
    let journal = journal
    try environment.define(
      environment.bean(Box.self) { [unowned environment] in
        journal.note("Box begins")
        return Box(content: try environment.getBean(B.self))
      })
    try environment.define(noted(B.self, in: environment, B.init)).startup()
    #expect(journal.entries == ["Box begins", "B"])
    #expect(try environment.getBean(Box.self).content === environment.getBean(B.self))
  }

  @Test("Infrastructure comes first: scopes, then post processors, wherever they were declared")
  func infrastructureFirst() throws {
    let journal = journal
    try environment.define(noted(A.self, in: environment, A.init))
    try environment.define(
      environment.bean(Watcher.self, factory: { journal.noting("Watcher", Watcher(journal: journal)) }))
    try environment.define(
      environment.bean(CustomScope.self, factory: { journal.noting("CustomScope", CustomScope()) }))
    try environment.startup()
    let entries = journal.entries
    #expect(entries.filter { !$0.hasPrefix("saw") } == ["CustomScope", "Watcher", "A"])
    #expect(entries.contains("saw A"))
  }

  @Test("A dependency of a post processor is built before it, and later beans are processed")
  func dependencyOfInfrastructure() throws {
    try environment.define(noted(A.self, in: environment, A.init))
    try environment.define(noted(B.self, in: environment, B.init))
    let journal = journal
    try environment.define(environment.bean(Watcher.self, factory: { (_: B) in Watcher(journal: journal) }))
    try environment.startup()
    #expect(journal.entries == ["B", "A", "saw A"])
  }

  @Test("A post processor that cannot be built is a failed startup before any bean")
  func failingInfrastructure() throws {
    try environment.define(noted(A.self, in: environment, A.init))
    try environment.define(environment.bean(Watcher.self, factory: { throw Boom() }))
    try requireFault(.creationFailed, causes: [Boom()]) { try environment.startup() }
    #expect(journal.entries.isEmpty)
  }
}

private final class Box {
  let content: StartupOrderSpecification.B
  init(content: StartupOrderSpecification.B) { self.content = content }
}

private final class CustomScope: AbstractBeanScope, @unchecked Sendable {  // adds no state
  init() { super.init(name: "custom") }
}

private final class Watcher: BeanPostProcessor {
  let journal: Journal
  init(journal: Journal) { self.journal = journal }
  func process(_ bean: AnyObject) throws -> AnyObject {
    if bean is StartupOrderSpecification.A { journal.note("saw A") }
    return bean
  }
}

private class Animal {}

private final class Dog: Animal {}

private final class Kennel {
  let dog: Dog

  init(dog: Dog) { self.dog = dog }
}
