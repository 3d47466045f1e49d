import Beans
import Foundation
import Testing

@testable import BeansGraph

private final class Store: Sendable {}
private final class Catalogue: Sendable {
  init(store: Store) {}
}
private final class Page: Sendable {
  init(catalogue: Catalogue, store: Store) {}
}

/// The behaviour of the program for each command line.
@Suite struct ProgramTests {
  private func program(_ declare: @escaping (Environment) throws -> Void) -> Program {
    Program(
      name: "shop", options: [], place: EnvironmentError.Origin(file: "/src/main.swift", line: 3), declare: declare)
  }

  private var shop: Program {
    program {
      try $0.define($0.bean(Store.self, id: "store", factory: { Store() }))
        .define($0.bean(Catalogue.self, factory: Catalogue.init))
        .define($0.bean(Page.self, factory: Page.init))
    }
  }

  private func text(_ program: Program, _ arguments: String...) throws -> String {
    let outcome = program.run(arguments)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  private func temporaryFile(_ name: String) -> String {
    FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())-\(name)").path
  }

  // MARK: faults

  @Test func faultsHaveTheirPlacesInTheFormOfCompilers() throws {
    let line = #line + 2
    let outcome = program {
      try $0.define($0.bean(Catalogue.self, factory: Catalogue.init))
      _ = try $0.childFactory("session", seed: Int.self) { session in
        try session.define(
          session.bean(Page.self, factory: Page.init).declared(at: .init(file: "/a/b.xml", line: 7, column: 5)))
      }
    }.run(["check", "--module", "BeansGraphTests=\(URL(fileURLWithPath: #filePath).deletingLastPathComponent().path)"])
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    let lines = outcome.errors.split(separator: "\n").filter { $0.contains(": error: ") }
    #expect(lines.count == 2, "\(outcome.errors)")
    #expect(lines.first?.hasPrefix("\(#filePath):\(line):1: error: unknownBean: ") == true, "\(outcome.errors)")
    #expect(lines.last?.hasPrefix("/a/b.xml:7:5: error: unknownBean: ") == true, "\(outcome.errors)")
  }

  @Test func notesNameThePlacesOfTheOtherBeansAndTheRemedy() throws {
    let line = #line + 3
    let outcome = program {
      _ = try $0.childFactory("visit", seed: Int.self)
      try $0.define($0.bean(Store.self, factory: { Store() }).scope("visit"))
      try $0.define($0.bean(Catalogue.self, factory: Catalogue.init).scope("prototype"))
      try $0.define($0.bean(Int.self, factory: { (_: Catalogue) in 1 }))
    }.run([])
    let captive = outcome.errors.split(separator: "\n").map(String.init)
    #expect(captive.first?.hasPrefix("\(#fileID):\(line + 2):1: error: captiveDependency: ") == true)
    #expect(
      captive.dropFirst().dropLast() == [
        "\(#fileID):\(line + 1):1: note: → Catalogue", "\(#fileID):\(line):1: note: → Store",
      ])
    #expect(captive.last?.hasPrefix("\(#fileID):\(line + 2):1: note: help: Take a `Current` or a `Provider`") == true)
    #expect(captive.last?.hasSuffix(" see Faults.md#captivedependency") == true)
  }

  @Test func aFileOfAnUnknownModuleIsNamedAsItIs() throws {
    let outcome = program { try $0.define($0.bean(Catalogue.self, factory: Catalogue.init)) }.run([])
    #expect(outcome.errors.hasPrefix("\(#fileID):"))
  }

  @Test func anErrorOfTheDeclarationsHasThePlaceOfTheirCall() throws {
    struct Refusal: Error {}
    let outcome = program { _ in throw Refusal() }.run(["check"])
    #expect(outcome.status == 1)
    #expect(outcome.errors == "/src/main.swift:3:1: error: Refusal()\n")
    let frozen = program {
      try $0.startup()
      try $0.define($0.bean(Store.self, factory: { Store() }))
    }.run(["check"])
    #expect(frozen.errors.contains(": error: frozen: "))
  }

  @Test func optionsOfTheEnvironmentAreChecked() throws {
    final class Shared {}
    let declare: (Environment) throws -> Void = { try $0.define($0.bean(Shared.self, factory: { Shared() })) }
    #expect(program(declare).run([]).status == 0)
    let strict = Program(
      name: "shop", options: [.requireSendable], place: EnvironmentError.Origin(file: "", line: 1), declare: declare)
    #expect(strict.run([]).errors.contains("not known to be Sendable"))
  }

  @Test func eachListOfProfilesIsCheckedAndNamedWithItsFaults() throws {
    var program = program { environment in
      try environment
        .define(environment.settings().setValue(key: "other", value: 1))
        .define(environment.bean(Store.self, factory: { Store() }).profile("test"))
        .define(environment.bean(Catalogue.self, factory: Catalogue.init).profile("!eu"))
    }
    #expect(program.run(["check"]).status == 1)
    program.profiles = ["test", "production, eu"]
    let passing = program.run(["check"])
    #expect(passing.status == 0 && passing.errors.isEmpty)
    program.profiles = ["test", "production", "staging"]
    let failing = program.run(["check"])
    let errors = failing.errors.split(separator: "\n").filter { $0.contains(" error: ") }
    #expect(failing.status == 1 && errors.count == 1, "\(failing.errors)")
    #expect(errors.first?.hasSuffix("[profiles: production; staging]") == true)
    #expect(program.run(["check", "--profiles", "test", "--profiles", "eu"]).status == 0)
    #expect(program.run(["check", "--profiles", "us"]).errors.contains("[profiles: us]"))
  }

  @Test func aFaultOfADocumentHasItsPlaceInTheSourceNotInTheCopyOfTheBuild() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let documents = folder.appendingPathComponent("Resources/documents")
    try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
    for name in ["Resources/shop.xml", "Resources/documents/shop.xml", "Resources/documents/only.xml"] {
      try Data().write(to: folder.appendingPathComponent(name))
    }
    let files = SourceFiles(modules: ["Shop=\(folder.path)", "My_Shop=/nowhere"])
    let bundle = "/work/.build/debug/App_Shop.resources"
    #expect(files.path(of: "\(bundle)/documents/shop.xml") == "\(folder.path)/Resources/documents/shop.xml")
    #expect(files.path(of: "\(bundle)/only.xml") == "\(folder.path)/Resources/documents/only.xml")
    #expect(files.path(of: "\(bundle)/none.xml") == "\(bundle)/none.xml")
    #expect(files.path(of: "/work/.build/debug/App_Other.resources/only.xml").hasPrefix("/work/.build"))
  }

  // MARK: questions

  @Test func aGraphIsWrittenInThreeFormats() throws {
    #expect(try text(shop, "graph").hasPrefix("flowchart LR\n  subgraph c0[\"shop\"]\n"))
    #expect(try text(shop, "graph", "--format", "dot").hasPrefix("digraph beans {\n"))
    let json = try text(shop, "graph", "--format", "json")
    let graph = try JSONDecoder().decode(BeanGraph.self, from: Data(json.utf8))
    let environment = try Environment(name: "shop")
    try shop.declare(environment)
    #expect(try graph == environment.graph())
    #expect(json.contains("\"label\" : \"Store 'store'\""))
    #expect(try text(shop, "graph", "--bean", "Store", "--depth", "0").contains("n0[\"Store 'store'\"]\n  end\n"))
  }

  @Test func whyPrintsAllPaths() throws {
    #expect(
      try text(shop, "why", "Page", "store") == """
        shop/Page → shop/Catalogue (parameter: parameter 0) → shop/Store 'store' (parameter: parameter 0)
        shop/Page → shop/Store 'store' (parameter: parameter 1)

        """)
    #expect(try text(shop, "why", "Store", "Page") == "Store does not need Page\n")
  }

  @Test func whyReportsThatThereAreMorePathsThanItPrints() throws {
    // Ten layers of two beans, each of which takes both of the next layer: 1,024 ways.
    let layered = program { environment in
      try environment.define(environment.bean(0, id: "end"))
      for layer in 1...10 {
        for side in ["a", "b"] {
          let below = layer == 1 ? ["end", "end"] : ["a\(layer - 1)", "b\(layer - 1)"]
          try environment.define(
            environment.bean(Int.self, id: "\(side)\(layer)", factory: { (left: Int, right: Int) in left + right })
              .argument(0, ref: below[0]).argument(1, ref: below[1]))
        }
      }
    }
    let lines = try text(layered, "why", "a10", "end").split(separator: "\n")
    #expect(lines.count == 1_001)
    #expect(lines.last == "and more: these are the first 1000")
    #expect(try !text(layered, "why", "a9", "end").contains("and more"))
  }

  @Test func theCommandWhoKeepsPrintsTheHoldersOfABeanAndTheirHolders() throws {
    #expect(
      try text(shop, "who-keeps", "Store") == """
        shop/Catalogue keeps shop/Store 'store' (parameter: parameter 0)
        shop/Page keeps shop/Store 'store' (parameter: parameter 1)
        shop/Page keeps shop/Catalogue (parameter: parameter 0)

        """)
    #expect(try text(shop, "who-keeps", "Page") == "no bean keeps Page\n")
  }

  @Test func diffPrintsTheChangesSinceAFileWasWritten() throws {
    let file = temporaryFile("graph.json")
    defer { try? FileManager.default.removeItem(atPath: file) }
    try text(shop, "graph", "--format", "json").write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try text(shop, "diff", file) == "the graphs are the same\n")
    let smaller = program { try $0.define($0.bean(Store.self, id: "store", factory: { Store() })) }
    #expect(try text(smaller, "diff", file).hasPrefix("- shop/Catalogue (singleton, BeansGraphTests.Catalogue)\n"))
  }

  @Test func diffNamesAFileThatItCannotUse() throws {
    let missing = shop.run(["diff", "/nowhere.json"])
    #expect(missing.status == 1)
    #expect(missing.errors == "beans: /nowhere.json cannot be read\n")
    let file = temporaryFile("other.json")
    defer { try? FileManager.default.removeItem(atPath: file) }
    try #"{"nodes": 1}"#.write(toFile: file, atomically: true, encoding: .utf8)
    let other = shop.run(["diff", file])
    #expect(other.status == 1)
    #expect(
      other.errors.hasPrefix("beans: \(file) does not hold a graph as `graph --format json` writes it: "),
      "\(other.errors)")
    #expect(!other.errors.contains("NSCocoaErrorDomain"))
  }

  @Test(arguments: [["help"], ["--help"], ["-h"], ["why", "--help"]])
  func helpListsTheCommands(_ arguments: [String]) throws {
    let outcome = shop.run(arguments)
    #expect(outcome.status == 0)
    #expect(outcome.output.hasPrefix("usage: check "))
    for command in ["check", "graph", "why", "who-keeps", "diff", "startup"] {
      #expect(outcome.output.contains(command))
    }
  }

  @Test(arguments: [
    ["plot"], ["graph", "--format", "svg"], ["graph", "--depth", "1"], ["graph", "--bean"], ["why", "Page"],
    ["who-keeps", "Nobody"], ["check", "--bean", "Page"], ["graph", "--bean", "Page", "--depth", "far"],
    ["startup", "now"],
  ])
  func anInvalidCommandLinePrintsTheUsage(_ arguments: [String]) {
    let outcome = shop.run(arguments)
    #expect(outcome.status == 2)
    #expect(outcome.errors.hasPrefix("beans: "))
    #expect(outcome.errors.contains("usage: "))
  }
}
