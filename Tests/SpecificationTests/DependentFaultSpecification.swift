import Beans
import Testing

/// Startups with one faulty declaration, and others that depend on it.
@Suite("Dependents of faulty declarations") struct DependentFaultSpecification {
  /// A faulty declaration that would be a `Service` with the id 'service', with the codes of its faults.
  struct Faulty: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let codes: [EnvironmentError.Code]
    let make: @Sendable (Environment) throws -> BeanDeclaration
  }

  static let faulty: [Faulty] = [
    Faulty(testDescription: "without a factory", codes: [.invalidDeclaration]) { $0.bean(Service.self, id: "service") },
    Faulty(testDescription: "of an unknown scope", codes: [.unknownScope]) {
      $0.bean(Service.self, id: "service", factory: { Service() }).scope("galactic")
    },
    Faulty(testDescription: "without a factory and of an unknown scope", codes: [.invalidDeclaration, .unknownScope]) {
      $0.bean(Service.self, id: "service").scope("galactic")
    },
    Faulty(testDescription: "of an unknown template", codes: [.unknownBean]) {
      $0.bean(Service.self, id: "service", parent: "nowhere")
    },
    Faulty(testDescription: "of an unknown template and an unknown scope", codes: [.unknownBean, .unknownScope]) {
      $0.bean(Service.self, id: "service", parent: "nowhere").scope("galactic")
    },
    Faulty(testDescription: "of a template that inherits from itself", codes: [.cyclicDependency]) {
      try $0.define($0.template("circle").parent("circle"))
      return $0.bean(Service.self, id: "service", parent: "circle")
    },
    Faulty(testDescription: "with a template's factory of another class", codes: [.typeMismatch]) {
      try $0.define($0.bean(Other.self, id: "other", abstract: true, factory: { Other() }))
      return $0.bean(Service.self, id: "service", parent: "other")
    },
    Faulty(testDescription: "with a release limit of zero", codes: [.invalidDeclaration]) {
      $0.bean(Service.self, id: "service", factory: { Service() }).releaseLimit(.zero)
    },
    Faulty(
      testDescription: "with an unknown property, without a factory", codes: [.unknownProperty, .invalidDeclaration]
    ) {
      $0.bean(Service.self, id: "service").property("naem", value: 1)
    },
    Faulty(testDescription: "with a missing requirement, of an unknown scope", codes: [.unknownBean, .unknownScope]) {
      $0.bean(Service.self, id: "service", factory: { Service() }).scope("galactic").requires(id: "missing")
    },
    Faulty(
      testDescription: "with a missing parameter and a release limit of zero",
      codes: [.invalidDeclaration, .unknownBean]
    ) {
      $0.bean(Service.self, id: "service", factory: { (_: Missing) in Service() }).releaseLimit(.zero)
    },
    Faulty(
      testDescription: "private to no module, without a factory", codes: [.invalidDeclaration, .invalidDeclaration]
    ) {
      $0.bean(Service.self, id: "service").private()
    },
    Faulty(testDescription: "of a factory bean without a target", codes: [.invalidDeclaration]) {
      $0.bean(Maker.self, id: "service", factory: { Maker() })
    },
    Faulty(testDescription: "of a factory bean without a factory", codes: [.invalidDeclaration]) {
      $0.bean(Maker.self, id: "service").target(Service.self)
    },
    Faulty(testDescription: "of a factory bean that makes something else", codes: [.typeMismatch]) {
      $0.bean(OtherMaker.self, id: "service", factory: { OtherMaker() }).target(Service.self)
    },
    Faulty(testDescription: "with a target, and no factory bean", codes: [.invalidDeclaration]) {
      $0.bean(Other.self, id: "service", factory: { Other() }).target(Service.self)
    },
  ]

  private func application(_ faulty: Faulty, isPrimary: Bool = false) throws -> (Environment, BeanDeclaration) {
    let application = try Environment(name: "application")
    _ = try application.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Taker.self, factory: Taker.init))
    }
    let declaration = try faulty.make(application)
    if isPrimary { declaration.primary() }
    try application.define(declaration)
    return (application, declaration)
  }

  private func check(_ application: Environment, _ faulty: Faulty) throws {
    defer { try? application.shutdown() }
    let faults = try startupFaults(of: application)
    #expect(faults.map { "\($0.code)" }.sorted() == faulty.codes.map { "\($0)" }.sorted(), "\(faults)")
    for fault in faults { #expect(fault.origin?.file == #fileID, "\(fault)") }
  }

  @Test(
    "All faults of a declaration are reported, and none of those that take its bean by type, id or as a declaration",
    arguments: faulty)
  func dependents(_ faulty: Faulty) throws {
    let (application, declaration) = try application(faulty)
    try application.define(
      all:
        application.bean(Taker.self, factory: Taker.init),
      application.bean(Taker.self, factory: Taker.init).argument(0, ref: "service"),
      application.bean(Taker.self, factory: Taker.init).argument(0, bean: declaration),
      application.bean(Collector.self, factory: Collector.init),
      application.bean(Deferring.self, factory: Deferring.init),
      application.bean(Prototype.self, factory: Prototype.init).scope("prototype"),
      application.bean(Other.self, factory: { (_: Prototype) in Other() }),
      application.bean(Other.self, factory: { Other() }).requires(id: "service"),
      application.bean(Other.self, factory: { Other() }).requires(Service.self))
    try application.alias("alias", of: "service")
    try application.define(application.bean(Taker.self, factory: Taker.init).argument(0, ref: "alias"))
    try application.define(application.decorate(Service.self) { (inner: Service) in inner })
    try check(application, faulty)
  }

  @Test("A bean that takes another implementation is in no circle if that one is faulty", arguments: faulty)
  func noCircle(_ faulty: Faulty) throws {
    let (application, _) = try application(faulty, isPrimary: true)
    try application.define(
      application.bean(CachingService.self, factory: { (inner: Service) in CachingService(inner) }))
    // `CachingService` is a `Service` itself, and would be the only one.
    try check(application, faulty)
  }

  @Test("A faulty declaration is overridden in a child without another fault", arguments: faulty)
  func hiddenInAChild(_ faulty: Faulty) throws {
    let (application, _) = try application(faulty)
    _ = try application.childFactory("job", seed: String.self) { job in
      try job.define(job.bean(Service.self, id: "service", factory: { Service() }))
      try job.define(job.bean(Taker.self, factory: Taker.init).argument(0, ref: "service"))
    }
    try check(application, faulty)
  }

  @Test("A reference to a declaration of an unknown class reports the faulty declaration")
  func unknownClass() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    try application.define(application.bean(parent: "nowhere", id: "service"))
    try application.define(application.bean(Taker.self, factory: Taker.init).argument(0, ref: "service"))
    let faults = try startupFaults(of: application)
    #expect(faults.count == 2)
    #expect(
      faults.allSatisfy { $0.message.contains("no template") || $0.message.contains("has errors of its own") },
      "\(faults)"
    )
  }

  @Test("A reference to a faulty alias reports the alias")
  func alias() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    try application.alias("service", of: "nowhere")
    try application.define(application.bean(Taker.self, factory: Taker.init).argument(0, ref: "service"))
    let faults = try startupFaults(of: application)
    #expect(faults.count == 2)
    #expect(faults.contains { $0.message.contains("no bean has the id 'nowhere'") }, "\(faults)")
    #expect(faults.contains { $0.message.contains("the declaration of 'service' has errors of its own") }, "\(faults)")
  }

  @Test("A template that is an argument is called a template")
  func template() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    let template = application.bean(Service.self, abstract: true, factory: { Service() })
    try application.define(template)
    try application.define(application.bean(Taker.self, factory: Taker.init).argument(0, bean: template))
    try requireFault(.unknownBean, message: "abstract: a template, not a bean") { try application.startup() }
  }
}

private class Service {
  var name = ""
}

private final class CachingService: Service {
  init(_ inner: Service) {}
}

private final class Other {}
private final class Missing {}

private final class Taker {
  init(service: Service) {}
}

private final class Collector {
  init(services: [Service], named: [String: Service], optional: Service?) {}
}

private final class Deferring {
  init(provider: Provider<Service>, lazy: Lazy<Service>) {}
}

private final class Prototype {
  init(service: Service) {}
}

private final class Maker: FactoryBean {
  func create() -> Service { Service() }
}

private final class OtherMaker: FactoryBean {
  func create() -> Missing { Missing() }
}
