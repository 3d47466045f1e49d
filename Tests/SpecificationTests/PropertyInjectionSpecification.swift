import Beans
import BeansInject
import Testing

@Suite("Property injection by key path") struct PropertyInjectionSpecification {
  @FreshEnvironment private var environment

  // MARK: value

  @Test("A value is set after the factory")
  func value() throws {
    try environment.define(
      environment.bean(Server.self).property(\.port, value: 8080).property(\.host, value: "localhost"))
    let server = try environment.getBean(Server.self)
    #expect(server.port == 8080)
    #expect(server.host == "localhost")
  }

  @Test("A value overwrites that of the factory")
  func valueAfterFactory() throws {
    try environment.define(
      environment.bean(Server.self) {
        let server = Server()
        server.port = 1
        return server
      }.property(\.port, value: 2))
    #expect(try environment.getBean(Server.self).port == 2)
  }

  @Test("Every instance of a prototype gets the values")
  func valueOfPrototypes() throws {
    try environment.define(environment.bean(Server.self).scope("prototype").property(\.port, value: 3))
    let first = try environment.getBean(Server.self)
    first.port = 4
    #expect(try environment.getBean(Server.self).port == 3)
  }

  @Test("Inherited, optional and protocol-typed properties take values")
  func kindsOfProperties() throws {
    try environment.define(
      environment.bean(SecureServer.self)
        .property(\.port, value: 443)
        .property(\.certificate, value: "pem")
        .property(\.sink, value: FileSink()))
    let server = try environment.getBean(SecureServer.self)
    #expect(server.port == 443)
    #expect(server.certificate == "pem")
    #expect(server.sink is FileSink)
  }

  // MARK: ref

  @Test("A reference sets the bean of that id, wherever it is declared")
  func reference() throws {
    try environment.define(environment.bean(Server.self).property(\.pool, ref: "large"))
    try environment.define(environment.bean(Pool.self, id: "small"))
    try environment.define(environment.bean(Pool.self, id: "large"))
    let server = try environment.getBean(Server.self)
    #expect(try server.pool === environment.getBean(Pool.self, byId: "large"))
  }

  @Test("A reference may name a bean of a subclass or a conforming class")
  func referenceToConformingBean() throws {
    try environment.define(environment.bean(Server.self).property(\.pool, ref: "pool").property(\.sink, ref: "sink"))
    try environment.define(environment.bean(ElasticPool.self, id: "pool"))
    try environment.define(environment.bean(FileSink.self, id: "sink"))
    let server = try environment.getBean(Server.self)
    #expect(server.pool is ElasticPool)
    #expect(server.sink is FileSink)
  }

  @Test("A reference to a bean that does not exist is a fault with the owner's origin")
  func unknownReference() throws {
    let (server, line) = (environment.bean(Server.self, id: "main").property(\.pool, ref: "nowhere"), #line)
    try environment.define(server)
    try requireFault(.unknownBean, description: "nowhere", "main", through: "Server", line: line) {
      try environment.startup()
    }
  }

  @Test("A reference to a bean of another type is a type mismatch")
  func mismatchedReference() throws {
    try environment.define(environment.bean(Server.self).property(\.pool, ref: "sink"))
    try environment.define(environment.bean(FileSink.self, id: "sink"))
    try requireFault(.typeMismatch, description: "Pool", "FileSink") { try environment.startup() }
  }

  // MARK: bean

  @Test("An embedded bean is built, wired and set")
  func embeddedBean() throws {
    let journal = Journal()
    try environment.define(
      environment.bean(Server.self)
        .property(
          \.pool, bean: environment.bean(Pool.self).property(\.size, value: 7).onDestroy { _ in journal.note("pool") }
        )
        .onDestroy { _ in journal.note("server") })
    #expect(try environment.getBean(Server.self).pool?.size == 7)
    try environment.shutdown()
    #expect(journal.entries == ["server", "pool"])
  }

  @Test("An embedded bean may embed another")
  func embeddedInEmbedded() throws {
    try environment.define(
      environment.bean(Server.self)
        .property(\.pool, bean: environment.bean(Pool.self).property(\.sink, bean: environment.bean(FileSink.self))))
    #expect(try environment.getBean(Server.self).pool?.sink is FileSink)
  }

  @Test("A missing dependency of an embedded bean is a fault of startup, and nothing is built")
  func faultyEmbeddedBean() throws {
    let built = Counter()
    try environment.define(
      environment.bean(Server.self, factory: { built.counting(Server()) })
        .property(\.pool, bean: environment.bean(Pool.self).property(\.sink, ref: "nowhere")))
    try requireFault(.unknownBean, description: "nowhere") { try environment.startup() }
    #expect(built.value == 0)
  }

  @Test("An embedded bean of another type is a type mismatch")
  func mismatchedEmbeddedBean() throws {
    try environment.define(environment.bean(Server.self).property(\.pool, bean: environment.bean(FileSink.self)))
    try requireFault(.typeMismatch) { try environment.startup() }
  }

  // MARK: inject

  @Test("inject resolves by the type of the property, or by id")
  func inject() throws {
    try environment.define(
      environment.bean(Server.self)
        .property(\.sink, inject: InjectBean())
        .property(\.pool, inject: InjectBean(id: "b")))
    try environment.define(environment.bean(FileSink.self))
    try environment.define(environment.bean(Pool.self, id: "a"))
    try environment.define(environment.bean(Pool.self, id: "b"))
    let server = try environment.getBean(Server.self)
    #expect(server.sink is FileSink)
    #expect(try server.pool === environment.getBean(Pool.self, byId: "b"))
  }

  @Test("inject with several candidates is ambiguous")
  func ambiguousInject() throws {
    try environment.define(environment.bean(Server.self).property(\.pool, inject: InjectBean()))
    try environment.define(environment.bean(Pool.self))
    try environment.define(environment.bean(Pool.self))
    try requireFault(.ambiguousBean, through: "Server") { try environment.startup() }
  }

  @Test("inject of an unknown id, or of a type without a bean, is a fault")
  func unknownInject() throws {
    try environment.define(environment.bean(Server.self).property(\.pool, inject: InjectBean(id: "nowhere")))
    try environment.define(environment.bean(Audit.self).property(\.pool, inject: InjectBean()))
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.unknownBean, .unknownBean])
    #expect(faults.contains { $0.description.contains("nowhere") })
    #expect(faults.contains { $0.passes("Audit") })
  }

  // MARK: order

  @Test("Beans to which a property refers are built before its owner")
  func dependencyOrder() throws {
    let journal = Journal()
    try environment.define(
      environment.bean(Server.self, factory: { journal.noting("server", Server()) })
        .property(\.pool, inject: InjectBean()))
    try environment.define(environment.bean(Pool.self, factory: { journal.noting("pool", Pool()) }))
    try environment.startup()
    #expect(journal.entries == ["pool", "server"])
  }

  @Test("Properties are set before postConstruct")
  func beforePostConstruct() throws {
    let seen = Captured<Int>()
    try environment.define(
      environment.bean(Server.self).property(\.port, value: 99).postConstruct { seen.value = $0.port })
    try environment.startup()
    #expect(seen.value == 99)
  }
}

private protocol Sink {}

private final class FileSink: Sink, Initializable { init() {} }

private class Pool: Initializable {
  var size = 0
  var sink: (any Sink)?
  required init() {}
}

private final class ElasticPool: Pool {}

private class Server: Initializable {
  var host = ""
  var port = 0
  var pool: Pool?
  var sink: any Sink = FileSink()
  required init() {}
}

private final class SecureServer: Server { var certificate: String? }

private final class Audit: Initializable {
  var pool = Pool()
  init() {}
}
