@_spi(BeansPackage) import BeansErrors
import Foundation
import Glibc

/// A Sentinel for one test, in a temporary folder and on a free port. It watches the primary `main`, and regards it as down
/// half a second after its last reply.
package final class SentinelProcess: Sendable {
  package let port: Int
  private let folder: String
  private let process = Locked<pid_t?>(nil)

  /// Starts a Sentinel, and returns when it watches.
  ///
  /// - Parameter quorum: the number of Sentinels that have to regard the primary as down.
  package init(of primary: RedisProcess, quorum: Int) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("sentinel-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // Another process may take a free port before the Sentinel does.
    for _ in 0..<10 {
      let port = try RedisProcess.findFreePort()
      let file = "\(folder)/sentinel.conf"
      try """
      port \(port)
      bind 127.0.0.1
      dir \(folder)
      sentinel monitor main 127.0.0.1 \(primary.port) \(quorum)
      sentinel down-after-milliseconds main 500
      sentinel failover-timeout main 3000

      """.write(toFile: file, atomically: true, encoding: .utf8)
      if let id = try RedisProcess.spawn([file, "--sentinel"], until: "+monitor master main") {
        self.port = port
        process.withLock { $0 = id }
        return
      }
    }
    throw RedisProcess.Failure(description: "redis-server does not start as a Sentinel")
  }

  deinit { end() }

  /// Ends the Sentinel at once.
  package func end() {
    guard let id = process.withLock({ $0.take() }) else { return }
    _ = kill(id, SIGKILL)
    _ = waitpid(id, nil, 0)
    try? FileManager.default.removeItem(atPath: folder)
  }
}
