import Beans
import BeansTesting
import Glibc
import Testing

@testable import Storefront

/// The shop whose database is taken away, exchanged or taken apart while it runs.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct StoreFilesTests {
  /// Changes to the files of an open database, which SQLite itself does not notice.
  enum Change: CaseIterable {
    case removal, replacement, removalOfLog, removalOfIndex

    func make(_ database: TemporaryDatabase) throws {
      let path = database.path
      switch self {
      case .removal: #expect(unlink(path) == 0)
      case .replacement:
        let other = try TemporaryDatabase()
        _ = try other.shop()
        #expect(rename(other.path, path) == 0)
      case .removalOfLog: #expect(unlink(path + "-wal") == 0)
      case .removalOfIndex: #expect(unlink(path + "-shm") == 0)
      }
    }
  }

  @Test(.beans(TestShop.served()), arguments: Change.allCases)
  func aStoreWhoseFilesAreGoneTakesNoOrdersAndIsUnhealthy(_ change: Change) throws {
    let server = try TestServer(Test.environment)
    let database = try Test.environment.getBean(TemporaryDatabase.self)
    var visitor = try FileVisitor(server)
    #expect(try visitor.checkOut() == 201)
    #expect(try visitor.status("/healthz") == 200)
    try change.make(database)
    try visitor.addToCart()
    #expect(try visitor.checkOut() == 503)
    while try visitor.status("/healthz") == 200 {}
    // Reading goes on.
    #expect(try visitor.status("/api/products") == 200)
    try server.end()
  }

  @Test(.beans(TestShop.served())) func aStoreWhoseFileIsPutBackTakesOrdersAgain() throws {
    let server = try TestServer(Test.environment)
    let database = try Test.environment.getBean(TemporaryDatabase.self)
    var visitor = try FileVisitor(server)
    #expect(rename(database.path, database.path + "-journal") == 0)
    #expect(try visitor.checkOut() == 503)
    while try visitor.status("/healthz") == 200 {}
    #expect(rename(database.path + "-journal", database.path) == 0)
    #expect(try visitor.checkOut() == 201)
    while try visitor.status("/healthz") != 200 {}
    try server.end()
  }

  @Test(
    .beans(TestShop.served()),
    arguments: ["TABLE order_lines", "TABLE orders", "TABLE products", "TABLE probe", "INDEX orders_of_visitor"])
  func aMissingPartOfTheSchemaIsUnhealthy(_ part: String) throws {
    let server = try TestServer(Test.environment)
    let visitor = try FileVisitor(server)
    #expect(try visitor.status("/healthz") == 200)
    let other = try Test.environment.getBean(TemporaryDatabase.self).connect()
    try other.execute("PRAGMA foreign_keys = OFF")
    try other.execute("DROP \(part)")
    while try visitor.status("/healthz") == 200 {}
    try server.end()
  }
}

/// A visitor who keeps a cookie, and has one piece in the cart at first.
private struct FileVisitor {
  private let client: TestClient
  private var cookie = ""

  init(_ server: TestServer) throws {
    client = try server.client()
    try addToCart()
  }

  mutating func addToCart() throws {
    #expect(
      try post("/api/cart", "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\nproduct=2")
        < 400)
  }

  mutating func checkOut() throws -> Int { try post("/api/checkout", "Content-Length: 0\r\n\r\n") }

  func status(_ path: String) throws -> Int {
    try client.get(path)
    return try client.receive().status
  }

  private mutating func post(_ path: String, _ rest: String) throws -> Int {
    try client.send("POST \(path) HTTP/1.1\r\nHost: t\r\n\(cookie.isEmpty ? "" : "Cookie: \(cookie)\r\n")\(rest)")
    let response = try client.receive()
    if let field = response.fields["set-cookie"] { cookie = String(field.prefix { $0 != ";" }) }
    return response.status
  }
}
