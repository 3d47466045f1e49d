import Beans
import BeansGraph
import BeansInject
import Testing

/// The beans of a gallery: one for each way of taking another one.
private final class Archive: Sendable {}
private final class Lantern: Sendable {}
private final class Tourist: Sendable {}
private final class Guide: Sendable {
  init(tourist: Tourist, archive: Archive) {}
}
private protocol Sign: Sendable {}
private final class Exit: Sign {}
private final class Entrance: Sign {}
private struct Framed: Sign {
  init(_ inner: any Sign, _ lantern: Lantern) {}
}
private final class Hall: Sendable {
  init(
    signs: [any Sign], lantern: Lazy<Lantern>, spare: Owned<Ladder>, archive: Provider<Archive>, guide: Current<Guide>,
    key: Key?
  ) {}
}
private final class Ladder: Sendable {}
private final class Key: Sendable {}
private final class Door {
  var key: Key?
  var hall: Hall?
}
private final class Painting: Sendable {
  init(archive: Archive) {}
}
private final class Restorer: FactoryBean, Sendable {
  init(lantern: Lantern) {}
  func create() -> Painting { Painting(archive: Archive()) }
}

@Suite("Graph") struct GraphSpecification {
  @FreshEnvironment("gallery") private var environment

  /// An environment with a bean for each kind of edge, and the children of a factory.
  private func gallery() throws -> Environment {
    let gallery = try Environment(name: "gallery")
    try gallery
      .define(gallery.bean(Archive.self, id: "archive", factory: { Archive() }))
      .define(gallery.bean(Lantern.self, lazy: true, factory: { Lantern() }))
      .define(gallery.bean(Ladder.self, factory: { Ladder() }).scope("prototype"))
      .define(gallery.bean(Key.self, factory: { Key() }).primary())
      .define(gallery.bean(Exit.self, factory: { Exit() }))
      .define(gallery.bean(Entrance.self, factory: { Entrance() }))
      .define(gallery.bean(Hall.self, factory: Hall.init).requires(Archive.self))
      .define(
        gallery.bean(Door.self, id: "template", abstract: true, factory: { Door() }).property("key", ref: "spare")
      )
      .define(gallery.bean(Door.self, id: "door", parent: "template").property(\.hall, inject: InjectBean()))
      .define(gallery.bean(Key.self, id: "spare", factory: { Key() }))
      .define(gallery.bean(Restorer.self, id: "restored", factory: Restorer.init).target(Painting.self))
      .define(gallery.bean(Archive.self, id: "test archive", factory: { Archive() }).profile("test"))
      .define(gallery.bean(Guide.self, factory: Guide.init).scope("tour"))
    _ = try gallery.childFactory("tour", seed: Tourist.self) { tour in
      try tour.define(tour.decorate((any Sign).self) { (inner: any Sign, lantern: Lantern) in Framed(inner, lantern) })
    }
    return gallery
  }

  private func edges(_ graph: BeanGraph, from node: String) -> [String] {
    graph.edges.filter { $0.from == node }.map { "\($0.kind.rawValue) \($0.to) \($0.label)" }
  }

  @Test("Each way of taking a bean has its kind of edge, with its place")
  func kinds() throws {
    let graph = try gallery().graph()
    #expect(
      edges(graph, from: "gallery/Hall") == [
        "requirement gallery/Archive 'archive' ",
        "collection gallery/Exit parameter 0", "collection gallery/Entrance parameter 0",
        "lazy gallery/Lantern parameter 1", "owned gallery/Ladder parameter 2",
        "provider gallery/Archive 'archive' parameter 3", "current gallery/Guide parameter 4",
        "optional gallery/Key parameter 5",
      ])
    #expect(
      edges(graph, from: "gallery/Door 'door'") == [
        "optional gallery/Key 'spare' property 'key'", "optional gallery/Hall property 'hall'",
        "template gallery/Door 'template' ",
      ])
    #expect(edges(graph, from: "gallery/Painting 'restored'") == ["factory gallery/Restorer '&restored' "])
    #expect(
      edges(graph, from: "gallery/Guide") == [
        "parameter gallery/tour/Tourist parameter 0", "parameter gallery/Archive 'archive' parameter 1",
      ])
    #expect(
      edges(graph, from: "gallery/tour/decorator of Exit") == [
        "decorates gallery/Exit ", "parameter gallery/Lantern parameter 1",
      ])
  }

  @Test("A node has the declaration, its place, its environment and its lifetime")
  func nodes() throws {
    let graph = try gallery().graph()
    func node(_ id: String) throws -> BeanGraph.Node { try #require(graph.nodes.first { $0.id == id }) }
    let archive = try node("gallery/Archive 'archive'")
    #expect(archive.label == "Archive 'archive'")
    #expect(archive.beanId == "archive")
    #expect(archive.type == "SpecificationTests.Archive")
    #expect(archive.environment == "gallery")
    #expect(archive.scope == "singleton")
    #expect(archive.origin?.file == "\(#fileID)")
    #expect(archive.flags.isEmpty)
    #expect(try node("gallery/Lantern").flags == [.lazy])
    #expect(try node("gallery/Key").flags == [.primary])
    #expect(try node("gallery/Door 'template'").flags == [.template])
    #expect(try node("gallery/Painting 'restored'").flags == [.product])
    #expect(try node("gallery/Restorer '&restored'").flags == [.factory])
    #expect(try node("gallery/tour/Tourist").flags == [.seed])
    // The place of the factory's declaration.
    #expect(try node("gallery/tour/Tourist").origin?.line == 61)
    #expect(try node("gallery/tour/decorator of Exit").flags == [.decorator])
    #expect(try node("gallery/Guide").scope == "tour")
    #expect(try node("gallery/Archive 'test archive'").inactive == "profile 'test' is not active")
    #expect(
      graph.clusters.map { [$0.id, $0.name, $0.parent, $0.scope] } == [
        ["gallery", "gallery", nil, nil], ["gallery/tour", "tour", "gallery", "tour"],
      ])
  }

  @Test("A graph builds nothing, and startup does not change it")
  func buildsNothing() throws {
    let (built, asked) = (Counter(), Counter())
    let inner = environment.bean(Lantern.self, factory: { built.counting(Lantern()) })
    try environment.define(environment.bean(Fixture.self, factory: Fixture.init).argument(0, .bean(inner)))
    try environment.define(
      environment.bean(Exit.self, factory: { Exit() }).when("never") { _ in asked.counting(false) })
    let before = try environment.graph()
    #expect(built.value == 0)
    #expect(before.nodes.map(\.label) == ["Fixture", "Lantern", "Exit"])
    #expect(before.edges.count == 1)
    try environment.startup()
    #expect(built.value == 1)
    #expect(asked.value == 2)
    #expect(try environment.graph() == before)
    #expect(try environment.graph() == before)
    // Startup has found the active declarations.
    #expect(asked.value == 2)
    try environment.shutdown()
    #expect(throws: EnvironmentError(.finished, "")) { try environment.graph() }
  }

  private final class Fixture: Sendable {
    init(lantern: Lantern) {}
  }

  @Test("The graph of a child contains the visible outer beans, started or not, through children of factories, too")
  func ancestors() throws {
    let gallery = try gallery()
    let annex = try Environment(name: "annex", parent: gallery)
    try annex.define(annex.bean(Painting.self, factory: Painting.init))
    let before = try annex.graph()
    #expect(before.clusters.map(\.id) == ["gallery", "gallery/tour", "gallery/annex"])
    #expect(edges(before, from: "gallery/annex/Painting") == ["parameter gallery/Archive 'archive' parameter 0"])
    try annex.startup()
    #expect(try annex.graph() == before)

    let street = try Environment(name: "street")
    let tours = try street.childFactory("tour", seed: Tourist.self) { tour in
      try tour.define(tour.bean(Archive.self, factory: { Archive() }))
    }
    let tour = try tours.build(Tourist())
    #expect(try tour.graph() == street.graph())
    let bus = try Environment(name: "bus", parent: tour)
    try bus.define(bus.bean(Guide.self, factory: Guide.init))
    let graph = try bus.graph()
    #expect(graph.clusters.map(\.id) == ["street", "street/tour", "street/tour/bus"])
    #expect(
      edges(graph, from: "street/tour/bus/Guide") == [
        "parameter street/tour/Tourist parameter 0", "parameter street/tour/Archive parameter 1",
      ])
    try street.shutdown()
    try gallery.shutdown()
  }

  @Test(
    "All faults of the declarations are thrown, and the environment can still be declared and started")
  func faults() throws {
    try environment.define(environment.bean(Painting.self, factory: Painting.init))
    _ = try environment.childFactory("tour", seed: Int.self) { tour in
      try tour.define(tour.bean(Guide.self, factory: Guide.init))
    }
    for check in [{ try environment.validate() }, { _ = try environment.graph() }] {
      let error = try #require(throws: EnvironmentError.self) { try check() }
      #expect(error.code == .startupFailed)
      // The tour's guide needs a tourist and an archive.
      #expect(error.underlying.count == 3)
    }
    try environment.define(environment.bean(Archive.self, factory: { Archive() }))
    try environment.define(environment.bean(Tourist.self, factory: { Tourist() }))
    try environment.validate()
    try environment.startup()
    try environment.validate()
    try environment.shutdown()
  }

  @Test("Validation converts values, and leaves values of the configuration to startup")
  func values() throws {
    try environment.define(
      environment.bean(Frame.self, factory: { Frame() }).property("width", resolve: "${frame.width}"))
    try environment.validate()
    try environment.define(
      environment.bean(Frame.self, id: "wide", factory: { Frame() }).property("width", value: "wide"))
    #expect(throws: EnvironmentError(.conversionFailed, "")) { try environment.validate() }
    let options = Set<StartupOption>([.requireSendable])
    let shared = try Environment(name: "gallery")
    try shared.define(shared.bean(Frame.self, factory: { Frame() }))
    try shared.validate()
    #expect(throws: EnvironmentError(.invalidDeclaration, "")) { try shared.validate(options: options) }
    try shared.shutdown()
  }

  private final class Frame {
    var width = 0
  }

  @Test("The cluster of an inactive factory's children and its declarations carry the reason")
  func inactiveFactory() throws {
    let tours = try environment.childFactory("tour", seed: Tourist.self, under: { $0.profile("summer") }) { tour in
      try tour.define(tour.bean(Archive.self, factory: { Archive() }))
    }
    _ = try tours.childFactory("stop", seed: Int.self) { stop in
      try stop.define(stop.bean(Lantern.self, factory: { Lantern() }))
    }
    let graph = try environment.graph()
    #expect(graph.clusters.map(\.id) == ["gallery", "gallery/tour", "gallery/tour/stop"])
    #expect(graph.clusters.map { $0.inactive == nil } == [true, false, false])
    #expect(
      graph.nodes.map(\.id) == [
        "gallery/EnvironmentFactory<Tourist>", "gallery/tour/Archive", "gallery/tour/stop/Lantern",
      ])
    #expect(graph.nodes.allSatisfy { $0.inactive?.contains("profile 'summer' is not active") == true })
  }

  // MARK: queries

  @Test("A filter keeps nodes within a number of steps, in both directions, and the environments around them")
  func filter() throws {
    let graph = try gallery().graph()
    #expect(graph.filter("Guide", depth: 0).nodes.map(\.id) == ["gallery/Guide"])
    let near = graph.filter("Guide", depth: 1)
    #expect(
      near.nodes.map(\.id) == [
        "gallery/Archive 'archive'", "gallery/Hall", "gallery/Guide", "gallery/tour/Tourist",
      ])
    #expect(near.clusters.map(\.id) == ["gallery", "gallery/tour"])
    #expect(near.edges.count == 5)
    #expect(graph.filter("Tourist").nodes.contains { $0.label == "Door 'door'" })
    #expect(graph.filter("Nobody").nodes.isEmpty)
  }

  @Test("Paths are all ways from one bean to another")
  func paths() throws {
    let graph = try gallery().graph()
    let paths = graph.paths(from: "door", to: "Archive").map { $0.map(\.to) }
    #expect(
      paths == [
        ["gallery/Hall", "gallery/Archive 'archive'"], ["gallery/Hall", "gallery/Archive 'archive'"],
        ["gallery/Hall", "gallery/Guide", "gallery/Archive 'archive'"],
      ])
    #expect(graph.paths(from: "door", to: "Archive", limit: 2).count == 2)
    #expect(graph.paths(from: "Archive", to: "door").isEmpty)
    #expect(graph.paths(from: "Archive", to: "Archive").isEmpty)
  }

  @Test("A path through a circle that providers close contains no bean twice")
  func circles() throws {
    try environment
      .define(environment.bean(Hen.self, factory: Hen.init))
      .define(environment.bean(Egg.self, factory: Egg.init))
      .define(environment.bean(Lantern.self, factory: { Lantern() }))
    let graph = try environment.graph()
    #expect(graph.paths(from: "Hen", to: "Lantern").map { $0.map(\.to) } == [["gallery/Egg", "gallery/Lantern"]])
    #expect(graph.keepers(of: "Lantern").map(\.from) == ["gallery/Egg", "gallery/Hen"])
    #expect(graph.keepers(of: "Hen").isEmpty)
  }

  private final class Hen: Sendable {
    init(egg: Egg) {}
  }

  private final class Egg: Sendable {
    init(hen: Provider<Hen>, lantern: Lantern) {}
  }

  @Test("The difference of two graphs lists added, removed and changed nodes, independent of places")
  func difference() throws {
    func graph(_ declare: (Environment) throws -> Void) throws -> BeanGraph {
      let environment = try Environment(name: "gallery")
      try declare(environment)
      return try environment.graph()
    }
    let old = try graph {
      try $0.define($0.bean(Archive.self, factory: { Archive() })).define($0.bean(Lantern.self, factory: { Lantern() }))
        .define($0.bean(Painting.self, factory: Painting.init))
    }
    let new = try graph {
      try $0.define($0.bean(Lantern.self, lazy: true, factory: { Lantern() })).define(
        $0.bean(Key.self, factory: { Key() }))
    }
    let moved = try graph {
      try $0.define($0.bean(Lantern.self, lazy: true, factory: { Lantern() })).define(
        $0.bean(Key.self, factory: { Key() }))
    }
    #expect(moved.difference(from: new).isEmpty)
    #expect(moved != new)
    let difference = new.difference(from: old)
    #expect(
      difference.description == """
        - gallery/Archive (singleton, SpecificationTests.Archive)
        - gallery/Painting (singleton, SpecificationTests.Painting)
        + gallery/Key (singleton, SpecificationTests.Key)
        ~ gallery/Lantern: singleton, SpecificationTests.Lantern → singleton, lazy, SpecificationTests.Lantern
        - gallery/Painting → gallery/Archive (parameter: parameter 0)

        """)
  }

  // MARK: pictures

  @Test("Mermaid shows environments as subgraphs, and templates and inactive declarations dashed")
  func mermaid() throws {
    #expect(
      try gallery().graph().filter("door", depth: 1).mermaid() == """
        flowchart LR
          subgraph c0["gallery"]
            n0["Hall"]
            n1["Door 'door'"]
            n2["Key 'spare'"]
            n3["Door 'template'"]
          end
          n1 -->|optional| n2
          n1 -->|optional| n0
          n1 -.->|template| n3
          classDef scope0 fill:#ddf4ff,stroke:#57606a,color:#1f2328
          class n0,n1,n2,n3 scope0
          classDef dashed stroke-dasharray:5 4
          class n3 dashed

        """)
  }

  @Test("DOT shows environments as clusters, one in another, and quotes names")
  func dot() throws {
    #expect(
      try gallery().graph().filter("Guide", depth: 1).dot() == """
        digraph beans {
          rankdir=LR;
          compound=true;
          node [shape=box, style="filled,rounded", fontname="sans-serif"];
          edge [fontname="sans-serif"];
          subgraph "cluster_gallery" {
            label="gallery";
            "gallery/Archive 'archive'" [label="Archive 'archive'", fillcolor="#ddf4ff"];
            "gallery/Hall" [label="Hall", fillcolor="#ddf4ff"];
            "gallery/Guide" [label="Guide", fillcolor="#dafbe1"];
            subgraph "cluster_gallery/tour" {
              label="tour";
              "gallery/tour/Tourist" [label="Tourist", fillcolor="#dafbe1"];
            }
          }
          "gallery/Hall" -> "gallery/Archive 'archive'" [label="requirement", style=dashed];
          "gallery/Hall" -> "gallery/Archive 'archive'" [label="provider", style=dashed];
          "gallery/Hall" -> "gallery/Guide" [label="current", style=dashed];
          "gallery/Guide" -> "gallery/tour/Tourist";
          "gallery/Guide" -> "gallery/Archive 'archive'";
        }

        """)
  }

  @Test("Types of one name have nodes of their own, and characters with a meaning in Mermaid are quoted")
  func names() throws {
    enum Here {
      final class Lantern: Sendable {}
    }
    struct Crate<Content>: Sendable {}
    try environment
      .define(environment.bean(Lantern.self, factory: { Lantern() }))
      .define(environment.bean(Here.Lantern.self, factory: { Here.Lantern() }))
      .define(environment.bean(Crate<Int>(), id: "\"#1\""))
    let graph = try environment.graph()
    #expect(graph.nodes.map(\.id) == ["gallery/Lantern", "gallery/Lantern #2", "gallery/Crate<Int> '\"#1\"'"])
    #expect(graph.nodes[1].type == "SpecificationTests.GraphSpecification.Here.Lantern")
    #expect(graph.mermaid().contains(#"n2["Crate#60;Int#62; '#34;#35;1#34;'"]"#))
    #expect(graph.dot().contains(##"label="Crate<Int> '\"#1\"'""##))
  }
}
