import Glibc

@testable import Storefront

/// Two nodes and their shared Redis and database.
final class Cluster: @unchecked Sendable {
  // Safe to send: all is constant, but `nodes`, which one thread alone uses.

  /// Keeps acknowledged writes when it is killed.
  let redis: RedisProcess
  let database: TemporaryDatabase
  private var nodes: [ServiceProcess?]
  let ports: [Int]
  private let loops: Int

  init(loops: Int = 2) throws {
    self.loops = loops
    // If Redis itself synchronises its file, it writes after its reply, and a kill loses that. The kernel keeps written
    // data.
    let redis = try RedisProcess("--appendonly", "yes", "--appendfsync", "no")
    let database = try TemporaryDatabase()
    // One after the other: both would make the tables.
    let first = try Self.node(database, redis, port: 0, loops: loops)
    let firstPort = try first.port()
    let second = try Self.node(database, redis, port: 0, loops: loops)
    ports = [firstPort, try second.port()]
    self.redis = redis
    self.database = database
    nodes = [first, second]
  }

  private static func node(
    _ database: TemporaryDatabase, _ redis: RedisProcess, port: Int, loops: Int
  ) throws -> ServiceProcess {
    try ServiceProcess(
      database: database.path,
      environment: ["PORT": "\(port)", "REDIS": "127.0.0.1:\(redis.port)", "LOOPS": "\(loops)"])
  }

  /// Ends a node as a failing machine does.
  func kill(_ number: Int) {
    guard let node = nodes[number].take() else { return }
    node.signal(SIGKILL)
    _ = try? node.end(signal: false)
  }

  /// Starts a node that was killed, on the port that it had.
  func start(_ number: Int) throws {
    let node = try Self.node(database, redis, port: ports[number], loops: loops)
    _ = try node.port()
    nodes[number] = node
  }

  func end() throws -> [ServiceProcess.End] {
    defer { nodes = [nil, nil] }
    return try nodes.compactMap { try $0?.end() }
  }
}
