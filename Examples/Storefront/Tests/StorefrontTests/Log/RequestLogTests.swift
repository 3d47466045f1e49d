import Testing

@testable import Storefront

@Suite struct RequestLogTests {
  @Test func aResponseIsCountedOnceByItsFirstDigit() {
    let log = AccessLog()
    let request = HTTPRequest(method: .get, path: "/")
    for status in [HTTPStatus.ok, .created, .notFound, nil] {
      let entry = RequestLog(request: request, log: log)
      entry.status = status
      entry.finish()
      entry.finish()
    }
    #expect(log.current == AccessLog.Counts(byClass: [1, 0, 2, 0, 1, 0]))
    #expect(log.current.total == 4)
  }

  @Test func aRequestCannotForgeALine() {
    final class Lines: Sendable { let lines = Guarded<[String]>([]) }
    let lines = Lines()
    let log = AccessLog { line in lines.lines.withLock { $0.append(line) } }
    log.record(
      HTTPRequest(method: .post, path: "/a\nGET /b 200"), status: .badRequest, took: .milliseconds(2))
    #expect(lines.lines.withLock { $0 } == ["POST /a?GET /b 200 400 2000 µs"])
  }
}
