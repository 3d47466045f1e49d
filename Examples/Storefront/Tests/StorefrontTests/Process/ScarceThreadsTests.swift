import Foundation
import Glibc
import Testing

@testable import Storefront

/// The service where the system has few threads or little memory for it, or its start takes long.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ScarceThreadsTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

  /// The super-user has no limit of threads, so the service runs as another user.
  private static let isPossible =
    geteuid() == 0 && ["setpriv", "prlimit"].allSatisfy { access("/usr/bin/\($0)", X_OK) == 0 }

  @Test(
    .enabled(if: isPossible, "only the super-user can run the service as another user"),
    arguments: [1, 2, 3, 4, 5, 6, 8, 12, 16, 24])
  func aStartWithoutThreadsEndsWithTheReason(threads: Int) throws {
    // Processes of other tests must not count.
    let user = 50_000 + Int(getpid()) % 10_000
    let service = try start("setpriv --reuid \(user) --clear-groups prlimit --nproc=\(threads)")
    if (try? service.port()) != nil {
      #expect(try service.end().isClean)
    } else {
      let end = try service.end(signal: false)
      #expect(end.status == EXIT_FAILURE && !end.isSignal, "\(end.status), \(end.isSignal): \(end.output)")
      #expect(end.output.contains("thread"), "\(end.output)")
    }
  }

  @Test(.enabled(if: isPossible, "prlimit is missing"), arguments: [120, 160, 180, 190, 200, 220, 260, 320])
  func aStartWithoutMemoryEnds(mebibytes: Int) throws {
    let service = try start("prlimit --as=\(mebibytes << 20)")
    let isServing = (try? service.port()) != nil
    let end = try service.end(signal: isServing)
    // Without memory for its libraries the process ends before the service begins, or at the first allocation that fails.
    if !isServing { #expect(end.status != 0, "\(end.output)") }
  }

  @Test func signalsEndAStartThatTakesLong() throws {
    let other = try database.connect()
    try other.execute("BEGIN EXCLUSIVE")
    let service = try ServiceProcess(database: database.path)
    try service.waitUntilSignalsAreHeld()
    // The start waits for the lock, for five seconds, and fails then.
    while service.isRunning {
      service.signal(SIGTERM)
      usleep(10_000)
    }
    let end = try service.end(signal: false)
    #expect(end.isSignal && end.status == SIGTERM, "\(end.status), \(end.isSignal): \(end.output)")
    try other.execute("COMMIT")
  }

  /// Starts the service with a command in front.
  private func start(_ command: String) throws -> ServiceProcess {
    // Another user may be unable to reach the folder of the build.
    #expect(chmod(database.folder, 0o777) == 0)
    return try ServiceProcess(database: database.path, command: command, copy: "\(database.folder)/service")
  }
}
