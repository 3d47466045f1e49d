import Beans
import Testing

@Suite("Placeholders") struct PlaceholderSpecification {
  @FreshEnvironment private var environment

  @Test("argument(_:resolve:) and property(_:resolve:) convert text with its placeholders replaced")
  func resolve() throws {
    try environment.define(
      environment.settings().setValue(key: "port", value: 8080).setValue(namespace: "shop", key: "host", value: "h"))
    try environment.define(
      environment.bean(Server.self, factory: Server.init)
        .argument(0, resolve: "${port}").argument(1, resolve: "http://${shop:host}:${port}/${path=index}")
        .property(\.timeout, resolve: "${timeout=30}s").property(\.retries, resolve: "${retries=3}"))
    let server = try environment.getBean(Server.self)
    #expect(server.port == 8080)
    #expect(server.url == "http://h:8080/index")
    #expect(server.timeout == .seconds(30))
    #expect(server.retries == 3)
  }

  @Test("Settings may be defined after the declarations that need them")
  func order() throws {
    try environment.define(environment.bean(Leaf.self).property(\.text, resolve: "${k}"))
    try environment.define(environment.settings().setValue(key: "k", value: "v"))
    #expect(try environment.getBean(Leaf.self).text == "v")
  }

  @Test("Unresolvable texts are faults of startup, all at once, lazy beans and children of factories included")
  func faults() throws {
    try environment.define(environment.settings().setValue(key: "mailhost", value: "x"))
    let (first, line) = (
      environment.bean(Leaf.self, id: "leaf", lazy: true).property(\.text, resolve: "${mailhots}"), #line
    )
    try environment.define(first)
    try environment.define(
      environment.bean(Server.self, factory: Server.init).scope("prototype")
        .argument(0, resolve: "${port=many}").argument(1, resolve: "${unclosed"))
    _ = try environment.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Leaf.self, id: "inner").property(\.text, resolve: "${inner}"))
    }
    let faults = try startupFaults(of: environment)
    #expect(
      faults.map(\.code) == [.unresolvedPlaceholder, .conversionFailed, .invalidDeclaration, .unresolvedPlaceholder])
    #expect(faults[0].isFrom(file: #fileID, line: line))
    for part in ["leaf", "text", "mailhots", "mailhost"] { #expect(faults[0].description.contains(part), "\(part)") }
    #expect(faults[1].description.contains("first parameter"))
    #expect(faults[3].passes("inner"))
  }

  @Test("Faults of values and faults of the graph are reported together")
  func togetherWithTheGraph() throws {
    try environment.define(environment.bean(Leaf.self).property(\.text, resolve: "${none}").requires(id: "nowhere"))
    #expect(try Set(startupFaults(of: environment).map(\.code)) == [.unresolvedPlaceholder, .unknownBean])
  }

  @Test("Placeholders of a template are resolved for each bean that inherits from it, and not for an unused one")
  func templates() throws {
    try environment.define(
      environment.bean(Leaf.self, id: "unused", abstract: true).property(\.text, resolve: "${unknown key}"))
    try environment.define(environment.bean(Leaf.self, id: "used", abstract: true).property(\.text, resolve: "<${k}>"))
    try environment.define(environment.bean(Leaf.self, id: "a", parent: "used"))
    try environment.define(environment.bean(Leaf.self, id: "b", parent: "used").property(\.text, value: "own"))
    try environment.define(environment.settings().setValue(key: "k", value: 1))
    #expect(try environment.getBean(Leaf.self, byId: "a").text == "<1>")
    #expect(try environment.getBean(Leaf.self, byId: "b").text == "own")
  }

  @Test("A resolved text keeps its value of startup")
  func fixed() throws {
    let source = Source(["k": "before"])
    try environment.addConfigurationSource(source)
    try environment.define(environment.bean(Leaf.self).scope("prototype").property(\.text, resolve: "${k}"))
    try environment.startup()
    try environment.configurationManager.configurationChanged(
      ConfigurationItem(key: "k", value: "after"), source: source)
    #expect(try environment.getBean(Leaf.self).text == "before")
    #expect(try environment.getConfigurationValue(String.self, key: "k") == "after")
  }

  @Test(
    "Children of a factory share the texts resolved when the parent started, with the factory's configuration first")
  func children() throws {
    try environment.define(environment.settings().setValue(key: "k", value: "outer").setValue(key: "o", value: "o"))
    try environment.define(
      environment.bean(Leaf.self, id: "declared above").scope("request").property(\.text, resolve: "${k}"))
    let factory = try environment.childFactory("request", seed: Int.self) { child in
      try child.define(child.settings().setValue(key: "k", value: "inner"))
      try child.define(child.bean(Leaf.self, id: "own").property(\.text, resolve: "${k}${o}"))
    }
    try environment.startup()
    for number in 0..<2 {
      let child = try factory.build(number)
      #expect(try child.getBean(Leaf.self, byId: "own").text == "innero")
      // The environment that declares a bean decides, as it does for its dependencies.
      #expect(try child.getBean(Leaf.self, byId: "declared above").text == "outer")
      #expect(try child.getConfigurationValue(String.self, key: "k") == "inner")
      child.finish()
    }
    #expect(try environment.getConfigurationValue(String.self, key: "k") == "outer")
  }

  @Test("A bean whose scope opens only further in has its text resolved by the declaring environment, at startup")
  func scopeFurtherIn() throws {
    func declare(_ text: String) throws -> Environment {
      let parent = try Environment(name: "parent")
      try parent.define(parent.settings().setValue(key: "k", value: "parent's"))
      return try parent.define(parent.bean(Leaf.self).scope("request").property(\.text, resolve: text))
    }
    let parent = try declare("${k}")
    try parent.startup()
    let middle = try Environment(name: "middle", parent: parent)
    let factory = try middle.childFactory("request", seed: Int.self)
    #expect(try factory.build(1).getBean(Leaf.self).text == "parent's")
    try parent.shutdown()
    try requireFault(.unresolvedPlaceholder) { try declare("${none}").startup() }
  }

  @Test("A prototype of the parent is built for the child with the parent's values")
  func inheritedPrototype() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.settings().setValue(key: "k", value: "parent's"))
    try parent.define(parent.bean(Leaf.self).scope("prototype").property(\.text, resolve: "${k}"))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.settings().setValue(key: "k", value: "child's"))
    #expect(try child.getBean(Leaf.self).text == "parent's")
  }

  @Test("Resolved objects are shared by all instances, and released at the end")
  func sharedAndReleased() throws {
    weak var leaf: Leaf?
    do {
      let environment = try Environment()
      try environment.registerConversion(from: String.self, to: Leaf?.self) { text in
        let leaf = Leaf()
        leaf.text = text
        return leaf
      }
      try environment.define(environment.bean(Twig.self).scope("prototype").property(\.leaf, resolve: "${k=green}"))
      let (first, second) = (try environment.getBean(Twig.self), try environment.getBean(Twig.self))
      #expect(first.leaf?.text == "green")
      #expect(first.leaf === second.leaf)
      leaf = first.leaf
      try environment.shutdown()
    }
    #expect(leaf == nil)
  }
}

private final class Server {
  let port: Int
  let url: String
  var timeout = Duration.zero
  var retries: Int? = nil
  init(port: Int, url: String) {
    self.port = port
    self.url = url
  }
}

private final class Leaf: Initializable {
  var text = ""
  init() {}
}

private final class Twig: Initializable {
  var leaf: Leaf?
  init() {}
}

private final class Source: ConfigurationSource {
  let url = "test"
  let canOverrule = false
  private let values: [String: String]
  init(_ values: [String: String]) { self.values = values }
  func load(_ manager: ConfigurationManager) throws {
    for (key, value) in values {
      try manager.configurationAdded(ConfigurationItem(key: key, value: value), source: self)
    }
  }
}
