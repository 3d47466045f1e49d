import Testing

@testable import Storefront

@Suite struct ErrorLogTests {
  private struct Boom: Error, CustomStringConvertible {
    let description: String
  }

  @Test func theLogWritesALineForEachError() {
    let lines = Guarded<[String]>([])
    let log = ErrorLog { line in lines.withLock { $0.append(line) } }
    let request = HTTPRequest(method: .get, path: "/a\r\nstorefront: forged")
    log.record(Boom(description: "no\nway"), request)
    #expect(lines.withLock { $0 } == ["storefront: GET /a storefront: forged: no way"])
  }

  @Test func theLogWritesNoFlood() {
    let lines = Guarded<[String]>([])
    let log = ErrorLog { line in lines.withLock { $0.append(line) } }
    let time = MonotonicTime(nanoseconds: 5_000_000_000)
    for _ in 0..<100 { log.record(Boom(description: "x"), "work", at: time) }
    #expect(lines.withLock { $0.count } == ErrorLog.linesPerSecond)
    log.record(Boom(description: "y"), "work", at: time + .seconds(1))
    #expect(
      lines.withLock { $0.suffix(2) } == ["storefront: 90 more errors were not written", "storefront: work: y"])
    log.record(Boom(description: "z"), "work", at: time + .seconds(1))
    #expect(lines.withLock { $0.last } == "storefront: work: z")
    log.flush()
    #expect(lines.withLock { $0.last } == "storefront: work: z")
  }

  @Test func theLogReportsSuppressedEntriesAtTheEnd() {
    let lines = Guarded<[String]>([])
    let log = ErrorLog { line in lines.withLock { $0.append(line) } }
    let time = MonotonicTime(nanoseconds: 5_000_000_000)
    for _ in 0..<100 { log.record(Boom(description: "x"), "work", at: time) }
    log.flush()
    #expect(lines.withLock { $0.last } == "storefront: 90 more errors were not written")
    log.flush()
    log.record(Boom(description: "y"), "work", at: time + .seconds(1))
    #expect(
      lines.withLock { $0.suffix(2) } == [
        "storefront: 90 more errors were not written", "storefront: work: y",
      ])
  }
}
