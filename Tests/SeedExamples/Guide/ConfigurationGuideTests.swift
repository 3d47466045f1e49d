import Beans
import BeansEventLoop
import BeansServer
import Foundation
import Synchronization
import Testing

@Suite("The article on configuration") struct ConfigurationGuideTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString)")

  private func withFile(_ text: String, _ body: (_ path: String) throws -> Void) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("settings.json")
    try text.write(to: file, atomically: true, encoding: .utf8)
    try body(file.path)
  }

  private func article() throws -> Article { try Article("Configuration", listings: "ConfigurationListings") }

  @Test("A section is a bean, whose values come from a file, variables and options")
  func section() throws {
    try withFile(article().blocks("json")[0]) { path in
      let post = try Environment(name: "post")
      try declareMail(
        in: post, file: path, variables: ["POST_MAIL_PORT": "25", "POST_REGION": "us"],
        arguments: ["post", "--verbose", "--mail.recipients=a,b", "--mail-timeout", "3s"])
      let mail = try post.getBean(Mailer.self).settings
      #expect(mail.host == "us.smtp.example.org" && mail.port == 25 && mail.timeout == .seconds(3))
      #expect(mail.maxSize == ByteCount(64 << 20) && mail.recipients == ["a", "b"])
      #expect(mail.headers == ["x-sent-by": "post"])
    }
  }

  @Test("The faults of a section are those of the article")
  func faults() throws {
    let text = #"{"mail": {"hots": "h", "port": "x", "maxSize": "1 MiB", "recipients": []}}"#
    #expect(try article().text.contains("`\(text)`"))
    try withFile(text) { path in
      let post = try Environment(name: "post")
      try declareMail(in: post, file: path, variables: [:], arguments: [])
      let error = try #require(#expect(throws: EnvironmentError.self) { try post.startup() })
      let shown = try article().blocks("text")[0]
      let text = "\(error)\n".replacing(path, with: "post.json")
      #expect(text == shown)
    }
  }

  @Test("A declaration sets one value")
  func values() throws {
    let environment = try Environment()
    try declareThrottle(in: environment)
    #expect(try environment.getBean(Throttle.self).rate == 10)
    let other = try Environment()
    try other.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["POST_RATE": "20"]))
    try declareThrottle(in: other)
    #expect(try other.getBean(Throttle.self).rate == 20)
  }

  @Test("A reload reaches a bean, and a listener")
  func reload() throws {
    try withFile(#"{"limits": {"perMinute": 1, "burst": 1}}"#) { path in
      let loop = try EventLoop()
      defer { try? loop.close() }
      let gateway = try Environment(name: "gateway")
      try declareLimits(in: gateway, file: path, on: loop)
      let limiter = try gateway.getBean(Limiter.self)
      #expect(!limiter.allows(2))
      let seen = Mutex<[Int]>([])
      let listener = watch(gateway) { burst in
        seen.withLock { $0.append(burst) }
        loop.stop()
      }
      loop.execute {
        // By another file and a rename, so that no reader sees half of it.
        try? #"{"limits": {"perMinute": 10, "burst": 5}}"#
          .write(toFile: path, atomically: true, encoding: .utf8)
      }
      try loop.run()
      #expect(seen.withLock { $0 } == [5])
      #expect(limiter.allows(14) && !limiter.allows(15))
      listener.cancel()
      try gateway.shutdown()
    }
  }
}
