import Beans
import BeansInject
import Testing

@Suite("Infrastructure is built first") struct InfrastructureOrderSpecification {
  @FreshEnvironment private var environment

  @Test("Configuration sources, scopes, injections and post processors precede beans, wherever they are declared")
  func order() throws {
    let journal = Journal()
    try environment.define(environment.bean(journal))
    try environment.define(environment.bean(Ordinary.self, factory: Ordinary.init))
    try environment.define(environment.bean(Processor.self, factory: Processor.init))
    try environment.define(environment.bean(Kind.self, factory: Kind.init))
    try environment.define(environment.bean(Hall.self, factory: Hall.init))
    try environment.define(environment.bean(Source.self, factory: Source.init))
    try environment.startup()
    #expect(journal.entries == ["source", "scope", "injection", "processor", "ordinary", "processed Ordinary"])
    try environment.shutdown()
  }

  @Test("Dependencies of infrastructure precede it and are not processed")
  func needs() throws {
    let journal = Journal()
    try environment.define(environment.bean(Processor.self, factory: { (_: Helper) in Processor(journal) }))
    try environment.define(environment.bean(Hall.self, factory: { (_: Helper) in Hall(journal) }))
    try environment.define(environment.bean(Helper.self, factory: { journal.noting("helper", Helper()) }))
    try environment.startup()
    #expect(journal.entries == ["helper", "scope", "processor"])
    try environment.shutdown()
  }

  @Test("A factory bean may create infrastructure")
  func product() throws {
    let journal = Journal()
    try environment.define(environment.bean(Ordinary.self, factory: { Ordinary(journal) }))
    try environment.define(
      environment.bean(ProcessorFactory.self, factory: { ProcessorFactory(journal: journal) })
        .target((any BeanPostProcessor).self))
    try environment.startup()
    #expect(journal.entries == ["processor", "ordinary", "processed Ordinary"])
  }

  @Test("An injection that cannot be built is a failed startup before any bean")
  func failure() throws {
    let journal = Journal()
    try environment.define(environment.bean(Ordinary.self, factory: { Ordinary(journal) }))
    try environment.define(environment.bean(Kind.self, factory: { throw Boom() }))
    try requireFault(.creationFailed, causes: [Boom()]) { try environment.startup() }
    #expect(journal.entries.isEmpty)
  }
}

private final class Ordinary {
  init(_ journal: Journal) { journal.note("ordinary") }
}

private final class Helper {}

private final class Processor: BeanPostProcessor {
  private let journal: Journal

  init(_ journal: Journal) {
    self.journal = journal
    journal.note("processor")
  }

  func process(_ bean: AnyObject) -> AnyObject {
    if !(bean is Journal) { journal.note("processed \(type(of: bean))") }
    return bean
  }
}

private struct ProcessorFactory: FactoryBean {
  let journal: Journal
  func create() -> any BeanPostProcessor { Processor(journal) }
}

private final class Kind: Injection, @unchecked Sendable {
  final class Ask: Inject, @unchecked Sendable {}

  init(_ journal: Journal) {
    journal.note("injection")
    super.init(for: Ask.self)
  }
}

private final class Hall: AbstractBeanScope, @unchecked Sendable {
  init(_ journal: Journal) {
    journal.note("scope")
    super.init(name: "hall")
  }
}

private final class Source: ConfigurationSource {
  let url = "source"
  let canOverrule = false

  init(_ journal: Journal) { journal.note("source") }

  func load(_ manager: ConfigurationManager) {}
}
