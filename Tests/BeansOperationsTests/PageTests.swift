import Beans
import BeansOperations
import BeansTesting
import Foundation
import Testing

/// The operations page. How a browser renders it is checked by `scripts/check-page`.
@Suite(.timeLimit(.minutes(20)))
struct PageTests {
  @Test("The page holds everything, loads nothing, and allows only its own style and script")
  func page() throws {
    let application = try Environment(name: "</script><b>shop</b>")
    try application.define(application.bean(Cart.self, factory: { Cart() }).confined(to: "a test")).startup()
    let operations = Operations(environment: application)
    let page = try operations.get("/")
    #expect(page.contentType == "text/html; charset=utf-8")
    // A name cannot end the script that holds the data.
    #expect(page.text.components(separatedBy: "</script>").count == 3)
    #expect(page.text.contains("\"Cart\""))
    // Each place of the file has its value.
    #expect(page.text.hasPrefix("<!doctype html>\n") && page.text.hasSuffix("\n</script>\n</body>\n</html>\n"))
    #expect(!["{nonce}", "{style}", "{data}", "{script}"].contains { page.text.contains($0) })
    for text in ["http:", "https:", "src=", "@import", "url("] {
      let without = page.text.replacing("http://www.w3.org/2000/svg", with: "")
      #expect(!without.contains(text), "\(text)")
    }
    let policy = try #require(page.headers.first { $0.name == "Content-Security-Policy" }?.value)
    let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([0-9a-f]{32})'/)).1
    #expect(policy.hasPrefix("default-src 'none'; "))
    #expect(page.text.contains("<script nonce=\"\(nonce)\">"))
    #expect(page.text.contains("<style nonce=\"\(nonce)\">"))
    #expect(!page.text.contains("style=\""))
    let other = try operations.get("/").headers.first { $0.name == "Content-Security-Policy" }?.value
    #expect(other != policy)
  }

  /// The data of the page, as its script reads it.
  private func data(_ page: OperationsResponse) throws -> [String: Any] {
    let match = try #require(page.text.firstMatch(of: /<script type="application\/json" id="data">(.*?)<\/script>/))
    return try #require(try JSONSerialization.jsonObject(with: Data(match.1.utf8)) as? [String: Any])
  }

  @Test("The page names the time of its snapshot")
  func snapshotTime() throws {
    let operations = Operations(environment: try Environment(name: "application").startup())
    let before = Date().addingTimeInterval(-0.001)
    let text = try #require(try data(operations.get("/"))["time"] as? String)
    let time = try Date(text, strategy: .iso8601WithFractions)
    #expect(before <= time && time <= Date())
  }

  @Test("A browser that asks the page for JSON gets a newer snapshot, without constant parts")
  func newerSnapshot() throws {
    let application = try Environment(name: "application")
    let requests = try application.childFactory("request", seed: Int.self)
    let operations = Operations(environment: application)
    #expect(try operations.get("/", accept: "application/json").json()["started"] as? Bool == false)
    try application.startup()
    let page = try data(operations.get("/"))
    let child = try requests.build(1)
    defer { child.finish() }
    let answer = try operations.get("/", accept: "application/json")
    #expect(answer.contentType == "application/json")
    #expect(answer.headers.contains { $0.name == "Cache-Control" && $0.value == "no-store" })
    let newer = try answer.json()
    #expect(newer["started"] as? Bool == true)
    #expect(Set(page.keys).subtracting(newer.keys) == ["beans", "startup"])
    let scopes = try #require((newer["environments"] as? [String: Any])?["scopes"] as? [[String: Any]])
    #expect(scopes.first { $0["scope"] as? String == "request" }?["open"] as? Int == 1)
    // A browser that follows a link accepts anything, and gets the page.
    let accepted = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    #expect(try operations.get("/", accept: accepted).contentType == "text/html; charset=utf-8")
  }

  @Test("The up-time counts from the creation of Operations, not from the start of a program that this one replaced")
  func theUpTimeCountsFromTheCreationOfOperations() throws {
    let before = Date().timeIntervalSince1970
    let operations = Operations(environment: try Environment(name: "application").startup())
    let process = try #require(try data(operations.get("/"))["process"] as? [String: Any])
    let upSeconds = try #require(process["upSeconds"] as? Double)
    #expect(0 <= upSeconds && upSeconds <= Date().timeIntervalSince1970 - before + 0.001)
    let line = try #require(
      try operations.get("/metrics").text.split(separator: "\n").first { $0.hasPrefix("process_start_time_seconds ") })
    let start = try #require(line.split(separator: " ").last.flatMap { Double($0) })
    #expect(before - 0.001 <= start && start <= Date().timeIntervalSince1970)
  }
}
