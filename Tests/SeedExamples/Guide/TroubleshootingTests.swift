import Beans
import Foundation
import Testing

@Suite("The article on troubleshooting") struct TroubleshootingTests {
  private static let article = Result { try Article("Troubleshooting", listings: "TroubleshootingListings") }

  /// The messages of the package that the article on faults does not list, and the file that has their text.
  private static let others = [
    ("swift-beans supports Linux with glibc", "CBeansRuntime/include/beans_runtime.h"),
    ("may be used on the loop's thread only", "BeansEventLoop/EventLoop.swift"),
    ("the context names no type: 'let cart", "Beans/Environment/Environment+Use.swift"),
    ("has been finished, but its loop has not released it", "BeansTesting/TestEnvironment.swift"),
    ("whose loop has not released it yet", "Beans/Runtime/EndState.swift"),
  ]

  /// The messages that only the compiler prints.
  private static let compiler = [
    "'Environment' is ambiguous", "ambiguous use of 'init'", "capture of 'counter'", "errors thrown from here",
    "type 'String?' has no member", "no 'async' operations",
  ]

  @Test("Each message is one that the package or the compiler prints")
  func messages() throws {
    let faults = try Article("Faults", listings: "TroubleshootingListings").text
    let sources = Article.package.appendingPathComponent("Sources")
    for message in try Self.article.get().blocks("text").map({ String($0.dropLast()) }) {
      if faults.contains("`\(message)`") || Self.compiler.contains(where: { message.contains($0) }) { continue }
      if message == Self.defaultArgument { continue }
      let (text, file) = try #require(Self.others.first { message.contains($0.0) }, "\(message)")
      #expect(
        try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8).contains(text), "\(message)")
    }
  }

  /// The sections of a report that the article names.
  private static let sections = [
    "not running, since neither run() nor a ServerLifecycle has been called",
    "taken where there is one, and not declared",
    "ambiguous in a lookup by type, and taken by no bean",
    "of a scope that no factory here opens",
    "shared by threads, and not known to be Sendable",
  ]

  @Test("Each section of a report is one that the package prints", arguments: sections)
  func reportSections(title: String) throws {
    #expect(try Self.article.get().text.contains("`\(title)`"))
    let report = Article.package.appendingPathComponent("Sources/Beans/Runtime/EnvironmentReport.swift")
    #expect(try String(contentsOf: report, encoding: .utf8).contains("\(title):"))
  }

  @Test("A report names an optional parameter that no bean satisfies")
  func silence() throws {
    let shop = try Environment(name: "shop")
    try shop.define(Int.self, factory: { (text: String?) in text == nil ? 0 : 1 })
    try Troubleshooting().explain(shop)
    #expect(shop.report().contains("taken where there is one, and not declared:\n- Int takes String?: none"))
    try shop.shutdown()
  }

  private static let defaultArgument =
    "unknownBean: second parameter: no bean of type Int can be seen from 'shop'; a default argument is not used here: "
    + "leave it out by a closure, such as { Pool(store: $0) } [Pool → Int] (Shop.swift:2)"

  @Test("A parameter with a default argument is a dependency")
  func defaultArguments() throws {
    #expect(try Self.article.get().text.contains(Self.defaultArgument))
    let shop = try Environment(name: "shop")
    try shop
      .define(shop.bean(Troubleshooting.Database.self, factory: Troubleshooting.Database.init))
      .define(shop.bean(Troubleshooting.Pool.self, file: "Shop.swift", line: 2, factory: Troubleshooting.Pool.init))
    let error = #expect(throws: EnvironmentError.self) { try shop.startup() }
    #expect(error?.description == Self.defaultArgument)
    let other = try Environment(name: "shop")
    try Troubleshooting().declarePools(in: other)
    #expect(try other.getBean(Troubleshooting.Pool.self, byId: "standard").size == 10)
    #expect(try other.getBean(Troubleshooting.Pool.self, byId: "large").size == 100)
    try other.shutdown()
  }
}
