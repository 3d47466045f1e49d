import Beans
import BeansXML
import Foundation

/// `Environment.loadXML`, and the startup of its declarations.
struct XMLTarget: FuzzTarget {
  let expected: [(outcome: String, share: Double)] = [
    ("started", 0.01), ("malformed", 0.01), ("not loaded: several faults", 0.001),
  ]

  private let mutation = Mutation(words: RandomDocument.words, others: RandomDocument.seeds)
  private static let imported = [
    "a.xml": "<beans><bean id='imported' class='Leaf'/></beans>",
    "b.xml": "<beans><import resource='a.xml'/><import resource='b.xml'/></beans>",
  ]

  func makeInput(_ random: inout RandomNumbers) -> [UInt8] {
    if random.once(in: 50) { return hostile(&random) }
    let document = Array(RandomDocument.make(&random, carelessness: random.pick([10, 30, 200])).utf8)
    let times = random.pick([0, 0, 1, 1, 2, 4, 12])
    return mutation.apply(to: document, times: times, &random)
  }

  /// Much of one kind, or no document at all.
  private func hostile(_ random: inout RandomNumbers) -> [UInt8] {
    let word = random.pick(RandomDocument.words)
    switch random.below(4) {
    case 0: return (0..<random.below(400)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    case 1: return Array("<beans>\(String(repeating: word, count: random.below(300)))</beans>".utf8)
    case 2:
      let depth = random.below(300)
      let (open, close) = random.pick([
        ("<bean class='Branch'><property name='branch'>", "</property></bean>"), ("<list>", "</list>"), ("<x>", "</x>"),
      ])
      return Array(
        "<beans>\(String(repeating: open, count: depth))\(String(repeating: close, count: depth))</beans>".utf8)
    default: return Array((0..<random.below(60)).map { _ in random.pick(RandomDocument.words) }.joined().utf8)
    }
  }

  func run(_ input: [UInt8]) throws -> String {
    let environment = try Environment(name: "fuzz")
    try environment.define(
      environment.bean(Crate.self, id: "crate", abstract: true) { Crate(number: $0, leaf: $1) })
    do {
      try environment.loadXML(Data(input), source: "fuzz.xml", handlers: [], resolver: Self.resolve)
    } catch let error as EnvironmentError {
      try check(error)
      // Messages of the elements' readers begin with the element.
      if error.code == .invalidXML, error.underlying.isEmpty, !error.message.hasPrefix("<") { return "malformed" }
      return error.underlying.isEmpty ? "not loaded: \(error.code)" : "not loaded: several faults"
    }
    do {
      try environment.startup()
    } catch let error as EnvironmentError {
      try check(error)
      return "not started: \(error.underlying.isEmpty ? error.code : .startupFailed)"
    }
    try environment.shutdown()
    return "started"
  }

  private static func resolve(_ resource: String, from source: String) throws -> XMLResource {
    if let text = imported[resource] { return XMLResource(data: Data(text.utf8), source: resource) }
    return try XMLResource.localFile(resource, importedBy: source)
  }

  /// Checks that a fault has its place and a description.
  private func check(_ error: EnvironmentError) throws {
    if error.description.isEmpty { throw Broken(description: "a fault without a description") }
    if error.underlying.isEmpty && error.origin == nil && error.code != .cyclicDependency {
      throw Broken(description: "a fault without a place: \(error)")
    }
    for inner in error.underlying {
      guard let inner = inner as? EnvironmentError else { continue }
      try check(inner)
    }
  }
}
