import Beans
import BeansInject
import Testing

@Suite("Configuration") struct ConfigurationSpecification {
  @FreshEnvironment private var environment

  // MARK: settings and reading

  @Test("Settings are values written down in code, read with conversion and default")
  func settings() throws {
    try environment.define(
      environment.settings().setValue(key: "key", value: 4711).setValue(
        namespace: "com.foo", key: "string", value: "hello"))
    #expect(try environment.getConfigurationValue(Int.self, key: "key") == 4711)
    #expect(try environment.getConfigurationValue(String.self, key: "key") == "4711")
    #expect(try environment.getConfigurationValue(String.self, namespace: "com.foo", key: "string") == "hello")
    #expect(try environment.getConfigurationValue(Int.self, key: "none", defaultValue: 5) == 5)
    #expect(try environment.getConfigurationValue(Int?.self, key: "none") == nil)
    try requireFault(.missingConfiguration, description: "strong", "com.foo:string") {
      try environment.getConfigurationValue(Int.self, namespace: "com.foo", key: "strong")
    }
  }

  @Test("A text that is no number fails only a read as a number")
  func lateFailure() throws {
    try environment.define(environment.settings().setValue(key: "k", value: "abc")).startup()
    #expect(try environment.getConfigurationValue(String.self, key: "k") == "abc")
    try requireFault(.conversionFailed) { try environment.getConfigurationValue(Int.self, key: "k") }
  }

  @Test("A setting that exists already is refused, with both places")
  func twice() throws {
    let (first, second, line) = (environment.settings(), environment.settings(), #line)
    try environment.define(first.setValue(key: "k", value: 1))
    let fault = try requireFault(.invalidDeclaration) { try environment.define(second.setValue(key: "k", value: 2)) }
    #expect(fault.description.contains("\(#fileID):\(line)"))
    #expect(fault.isFrom(file: #fileID, line: line))
    #expect(try environment.getConfigurationValue(Int.self, key: "k") == 1)
  }

  @Test("Settings are defined before startup, sources may come later")
  func frozen() throws {
    try environment.startup()
    try requireFault(.frozen) { try environment.define(environment.settings().setValue(key: "k", value: 1)) }
    try environment.addConfigurationSource(Source("late", ["k": "2"]))
    #expect(try environment.getConfigurationValue(Int.self, key: "k") == 2)
  }

  @Test("A read does not start the environment; after the end it is refused")
  func lifecycle() throws {
    try environment.addConfigurationSource(Source("a", ["k": "1"]))
    #expect(try environment.getConfigurationValue(Int.self, key: "k") == 1)
    try environment.define(environment.bean(Reader.self, factory: Reader.init)).startup()
    try environment.shutdown()
    try requireFault(.finished) { try environment.getConfigurationValue(Int.self, key: "k") }
    try requireFault(.finished) { try environment.addConfigurationSource(Source("b", [:])) }
  }

  @Test("A read after a failed startup throws its cause")
  func failed() throws {
    try environment.define(environment.bean(Reader.self, factory: Reader.init).requires(id: "nowhere"))
    try requireFault(.unknownBean) { try environment.startup() }
    try requireFault(.unknownBean) { try environment.getConfigurationValue(Int.self, key: "k", defaultValue: 1) }
  }

  // MARK: hierarchy

  @Test("A child inherits its parent's values and overrides them for itself alone")
  func hierarchy() throws {
    let parent = try Environment(name: "parent")
    try parent.define(parent.settings().setValue(key: "a", value: 1).setValue(key: "b", value: 2))
    let (child, sibling) = (try Environment(parent: parent), try Environment(parent: parent))
    try child.define(child.settings().setValue(key: "b", value: 20).setValue(key: "c", value: 30))
    #expect(try ["a", "b", "c"].map { try child.getConfigurationValue(Int?.self, key: $0) } == [1, 20, 30])
    #expect(try ["a", "b", "c"].map { try sibling.getConfigurationValue(Int?.self, key: $0) } == [1, 2, nil])
    #expect(try ["a", "b", "c"].map { try parent.getConfigurationValue(Int?.self, key: $0) } == [1, 2, nil])
  }

  @Test("A change in the parent reaches the listeners of children that do not override the value")
  func listeners() throws {
    let parent = try Environment(name: "parent")
    let source = Source("a", ["k": "1"])
    try parent.addConfigurationSource(source)
    let (child, sibling) = (try Environment(parent: parent), try Environment(parent: parent))
    try sibling.define(sibling.settings().setValue(key: "k", value: 7))
    let journal = Journal()
    for (name, environment) in [("parent", parent), ("child", child), ("sibling", sibling)] {
      environment.configurationManager.addListener(Int.self, key: "k") { journal.note("\(name) \($0)") }
    }
    try parent.configurationManager.configurationChanged(ConfigurationItem(key: "k", value: "2"), source: source)
    #expect(journal.entries.sorted() == ["child 2", "parent 2"])
    try child.shutdown()
    try parent.configurationManager.configurationChanged(ConfigurationItem(key: "k", value: "3"), source: source)
    #expect(journal.entries.sorted() == ["child 2", "parent 2", "parent 3"])
  }

  // MARK: the manager and sources as beans

  @Test("The configuration manager is injected and found like a bean, the nearest one")
  func injection() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.settings().setValue(key: "k", value: 1))
    try parent.define(parent.bean(Reader.self, factory: Reader.init))
    try parent.define(parent.bean(Optionally.self).property(\.manager, inject: InjectBean()))
    let child = try Environment(name: "child", parent: parent)
    #expect(try child.getBean(ConfigurationManager.self) === child.configurationManager)
    #expect(try parent.getBean(ConfigurationManager.self) === parent.configurationManager)
    #expect(child.configurationManager !== parent.configurationManager)
    #expect(try child.getBean(Reader.self).manager === parent.configurationManager)
    #expect(try child.getBean(Optionally.self).manager === parent.configurationManager)
    #expect(try child.getBean(Provider<ConfigurationManager>.self).get() === child.configurationManager)
    try requireFault(.invalidDeclaration) {
      let other = try Environment()
      try other.define(other.bean(ConfigurationManager())).startup()
    }
  }

  @Test("Factories read the configuration during startup")
  func duringStartup() throws {
    try environment.define(
      environment.bean(
        Text.self, factory: { (here: Environment) in Text(try here.getConfigurationValue(String.self, key: "k")) }))
    try environment.define(environment.bean(Source("bean", ["k": "from a bean"])))
    #expect(try environment.getBean(Text.self).text == "from a bean")
  }

  @Test(
    "A source that is a bean is built first, and its values are there before any placeholder, wherever it is declared")
  func sourceBean() throws {
    let journal = Journal()
    try environment.define(
      environment.bean(Text.self, factory: { (text: String) in journal.noting("text", Text(text)) })
        .argument(0, resolve: "${k}"))
    try environment.define(
      environment.bean(Inspector.self, factory: { Inspector { journal.note("processed \(type(of: $0))") } }))
    try environment.define(
      environment.bean(Source.self, lazy: true, factory: { journal.noting("source", Source("bean", ["k": "v"])) }))
    try environment.startup()
    #expect(try environment.getBean(Text.self).text == "v")
    #expect(journal.entries.first == "source")
    #expect(journal.entries.contains("processed Text"))
    #expect(!journal.entries.contains("processed Source"))
  }

  @Test("A source may be made of other beans and of values of the sources before it")
  func sourceOfASource() throws {
    try environment.define(environment.bean(Text.self, factory: Text.init).argument(0, resolve: "${name}"))
    try environment.define(environment.bean(Source.self, id: "first", factory: { Source("first", ["prefix": "p"]) }))
    try environment.define(
      environment.bean(Source.self, id: "second", factory: { (part: Part) in Source("second", ["name": part.text]) }))
    try environment.define(environment.bean(Part.self).property(\.text, resolve: "${prefix}-part"))
    #expect(try environment.getBean(Text.self).text == "p-part")
  }

  @Test("Faults are still found with a source among the beans: those of the graph first, then all texts at once")
  func faultsWithASourceBean() throws {
    let journal = Journal()
    func declare(_ environment: Environment) throws {
      try environment.define(environment.bean(Part.self, id: "a").property(\.text, resolve: "${none}"))
      try environment.define(environment.bean(Part.self, id: "b").property(\.text, resolve: "${k}"))
      try environment.define(environment.bean(Part.self, id: "c").property(\.text, resolve: "${nothing}"))
      try environment.define(
        environment.bean(Source.self, factory: { Source("bean", ["k": "v"]) }).onDestroy { _ in
          journal.note("destroyed")
        })
    }
    try declare(environment)
    #expect(try startupFaults(of: environment).map(\.code) == [.unresolvedPlaceholder, .unresolvedPlaceholder])
    #expect(journal.entries == ["destroyed"])
    let other = try Environment()
    try declare(other)
    try other.define(other.bean(Part.self, id: "d").property(\.text, resolve: "${unclosed").requires(id: "nowhere"))
    #expect(try Set(startupFaults(of: other).map(\.code)) == [.unknownBean, .invalidDeclaration])
    #expect(journal.entries == ["destroyed"])
  }

  @Test("A source bean that fails to load fails the startup, and the built beans are released")
  func failingSource() throws {
    try environment.define(environment.settings().setValue(key: "k", value: 1))
    try environment.define(environment.bean(Source("bean", ["k": "2"])))
    try requireFault(.invalidDeclaration, description: "bean", through: "Source") { try environment.startup() }
  }

  @Test("A bean that a source looks up before the configuration is complete is refused if it needs text")
  func tooEarly() throws {
    try environment.define(environment.bean(Part.self).property(\.text, resolve: "${k}"))
    try environment.define(
      environment.bean(
        Source.self, factory: { (here: Environment) in Source("bean", ["k": try here.getBean(Part.self).text]) }))
    try requireFault(.unresolvedPlaceholder) { try environment.startup() }
  }

  @Test("A source that adds itself in postConstruct, like those of the seeds, is loaded once")
  func selfAdding() throws {
    try environment.define(environment.bean(SelfAdding.self, factory: SelfAdding.init))
    try environment.startup()
    #expect(try environment.getConfigurationValue(Int.self, key: "loads") == 1)
  }

  @Test("A source cannot be a bean of a factory's children")
  func sourceInChildren() throws {
    _ = try environment.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Source("bean", [:])))
    }
    try requireFault(.invalidDeclaration) { try environment.startup() }
    let other = try Environment()
    try other.define(other.bean(Source("bean", [:])).scope("request"))
    try requireFault(.invalidDeclaration) { try other.startup() }
  }

  @Test("The command line overrules the environment variables, which overrule the settings")
  func precedence() throws {
    try environment.define(
      environment.settings().setValue(key: "a", value: 1).setValue(key: "b", value: 1).setValue(key: "c", value: 1))
    try environment.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["b": "2", "c": "2"]))
    try environment.addConfigurationSource(CommandLineConfigurationSource(arguments: ["program", "--c=3"]))
    #expect(try ["a", "b", "c"].map { try environment.getConfigurationValue(Int.self, key: $0) } == [1, 2, 3])
    #expect(environment.configurationManager.report().contains("c = '3'"))
  }

  @Test("The configuration is released after the end: its sources, listeners and manager")
  func released() throws {
    weak var source: Source?
    weak var manager: ConfigurationManager?
    let parent = try Environment(name: "parent")
    do {
      let made = Source("a", ["k": "1"])
      source = made
      let environment = try Environment(parent: parent)
      try environment.define(environment.bean(made)).startup()
      manager = environment.configurationManager
      environment.configurationManager.addListener(Int.self, key: "k") { _ in made.touch() }
      try environment.shutdown()
    }
    #expect(source == nil)
    #expect(manager == nil)
  }
}

private final class Source: ConfigurationSource {
  let url: String
  let canOverrule = false
  private let values: [String: String]
  init(_ url: String, _ values: [String: String]) {
    self.url = url
    self.values = values
  }
  func load(_ manager: ConfigurationManager) throws {
    for (key, value) in values {
      try manager.configurationAdded(ConfigurationItem(key: key, value: value), source: self)
    }
  }
  func touch() {}
}

private final class SelfAdding: ConfigurationSource, Bean {
  let url = "self"
  let canOverrule = true
  private let manager: ConfigurationManager
  private let loads = Counter()
  init(manager: ConfigurationManager) { self.manager = manager }
  func postConstruct() throws { try manager.addSource(self) }
  func load(_ manager: ConfigurationManager) throws {
    loads.increment()
    try manager.configurationAdded(ConfigurationItem(key: "loads", value: loads.value), source: self)
  }
}

private final class Reader {
  let manager: ConfigurationManager
  init(manager: ConfigurationManager) { self.manager = manager }
}

private final class Optionally: Initializable {
  var manager: ConfigurationManager?
  init() {}
}

private final class Text {
  let text: String
  init(_ text: String) { self.text = text }
}

private final class Part: Initializable {
  var text = ""
  init() {}
}
