import Beans
import Metrics
import Testing
import Tracing

@testable import MetricsAndTracingListings

@Suite("swift-metrics and swift-distributed-tracing", .serialized) struct MetricsAndTracingTests {
  struct Declined: Error {}

  final class Warm: Sendable {}

  @Test("Each request has a duration and a span with the spans of its beans inside")
  func requests() async throws {
    let shop = try Environment(name: "shop")
    let telemetry = ScopeTelemetry(scopes: ["request"])
    let requests = try declareRequests(in: shop, telemetry)
    try shop.define(Warm.self, async: { () async throws in Warm() }) { $0.onDestroy { _ in throw Declined() } }
    try await shop.ready()
    let server = startSpan("server")
    try await ServiceContext.$current.withValue(server.context) {
      let text = try await respond(to: Request(path: "/"), requests, telemetry)
      #expect(text == "welcome")
      await #expect(throws: NotFound.self) { try await respond(to: Request(path: "/x"), requests, telemetry) }
    }
    await #expect(throws: EnvironmentError.self) { try await shop.shutdown() }

    #expect(Recordings.of("beans_open", "scope=request") == [1, 0, 1, 0])
    #expect(Recordings.of("beans_duration", "scope=request", "outcome=completed").count == 1)
    #expect(Recordings.of("beans_duration", "scope=request", "outcome=failed").count == 1)
    #expect(Recordings.of("beans_creation", "bean=Warm").count == 1)
    #expect(Recordings.of("beans_release_failures") == [1])
    let spans = Spans.below("server")
    #expect(
      spans.map(\.path) == [
        "server/request/query", "server/request", "server/request/query", "server/request",
      ])
    #expect(spans.map(\.status) == [nil, nil, nil, SpanStatus(code: .error)])
    #expect(spans.last?.errors.first is NotFound)
    #expect(spans.last?.attributes["beans"] == 1)
    #expect(telemetry.context(of: shop)?.spans == nil)
  }
}
