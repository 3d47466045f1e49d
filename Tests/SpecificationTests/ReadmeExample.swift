import Beans

struct Visitor { let name: String }

final class Database: DisposableBean, Sendable {
  func preDestroy() { print("database closed") }
}

final class Concierge {
  private let visitor: Visitor, database: Database
  init(visitor: Visitor, database: Database) { (self.visitor, self.database) = (visitor, database) }
  func greet() -> String { "Hello, \(visitor.name)!" }
}

func greetVisitors() throws -> [String] {
  let application = try Environment(name: "application")
  try application.define(application.bean(Database.self, factory: Database.init))
  let requests = try application.childFactory(
    "request", seed: Visitor.self,
    configure: { request in
      try request.define(request.bean(Concierge.self, factory: Concierge.init))
    })
  defer { application.finish() }  // releases everything that is left: "database closed"
  return try ["Ada", "Grace"].map { name in
    try requests.withChild(Visitor(name: name)) { request in try request.getBean(Concierge.self).greet() }
  }
}
