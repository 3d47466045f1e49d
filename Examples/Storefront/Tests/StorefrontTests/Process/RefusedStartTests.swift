import Glibc
import Testing

@testable import Storefront

/// Faults that keep the service from starting, as an operator sees them.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct RefusedStartTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

  /// It ends by itself, with a code that is not that of success, and one line.
  private func refusal(_ environment: [String: String] = [:]) throws -> String {
    let end = try ServiceProcess(database: database.path, environment: environment).end(signal: false)
    #expect(end.status == EXIT_FAILURE && !end.isSignal, "\(end.status), \(end.isSignal): \(end.output)")
    #expect(end.output.hasPrefix("storefront: "))
    return end.output
  }

  @Test(arguments: [1, 4]) func aSecondInstanceOnThePortIsRefusedAndTheFirstServesOn(loops: Int) throws {
    let other = try TemporaryDatabase()
    let first = try ServiceProcess(database: other.path, environment: ["LOOPS": "2"])
    let port = try first.port()
    let reason = try refusal(["PORT": "\(port)", "LOOPS": "\(loops)"])
    #expect(reason.contains("127.0.0.1:\(port)") && reason.contains("address already in use"), "\(reason)")
    for _ in 0..<20 {
      let client = try TestClient(port: port)
      try client.get("/healthz")
      #expect(try client.receive().status == 200)
    }
    #expect(try first.end().isClean)
  }

  @Test func aFileOfAnotherVersionIsNamedWithTheReason() throws {
    try database.shop().close()
    try database.connect().execute("PRAGMA user_version = 1000")
    #expect(try refusal().contains("version 1000"))
  }

  @Test func aFileThatIsNoDatabaseIsNamedWithTheReason() throws {
    let file = open(database.path, O_WRONLY | O_CREAT, 0o600)
    #expect(write(file, "no database at all", 18) == 18)
    close(file)
    #expect(try refusal().contains("not a database"))
  }

  @Test func aMissingFolderIsNamed() throws {
    let end = try ServiceProcess(database: "/nonexistent/shop.sqlite").end(signal: false)
    #expect(end.status == EXIT_FAILURE && !end.isSignal)
    #expect(end.output.contains("/nonexistent/shop.sqlite"))
  }
}
