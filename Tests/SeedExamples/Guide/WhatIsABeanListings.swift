// Each marked listing is in the article to the letter: see DeclaringGuideTests.swift.

// listing
import Beans

// end

struct WhatIsABean {
  // continued
  struct Visitor: Sendable { let name: String }

  final class Database: DisposableBean, Sendable {
    func preDestroy() { print("database closed") }
  }

  final class Greeting: Sendable {
    let text: String
    init(visitor: Visitor, database: Database) { text = "Hello, \(visitor.name)!" }
  }

  func greet() throws -> [String] {
    let shop = try Environment(name: "shop")
    defer { shop.finish() }
    try shop.define(shop.bean(Database.self, factory: Database.init))
    let requests = try shop.childFactory("request", seed: Visitor.self) { request in
      try request.define(request.bean(Greeting.self, factory: Greeting.init))
    }
    try shop.startup()
    return try ["Ada", "Grace"].map { name in
      try requests.withChild(Visitor(name: name)) { request in try request.getBean(Greeting.self).text }
    }
  }
  // end
}
