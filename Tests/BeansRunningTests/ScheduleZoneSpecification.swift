import Beans
import BeansRunning
import BeansTesting
import Foundation
import TestSupport
import Testing

private final class Report: Sendable {}

/// Schedules in the zones of Foundation, by the public API alone.
@Suite("Schedules in time zones", .timeLimit(.minutes(5)))
struct ScheduleZoneSpecification {
  /// Returns the times of the calls within three days.
  private func calls(of expression: String, in identifier: String, from start: String) async throws -> [String] {
    let zone = try #require(TimeZone(identifier: identifier))
    let begin = try Date("\(start):00Z", strategy: .iso8601)
    let clock = ManualClock(timeSinceEpoch: .seconds(begin.timeIntervalSince1970))
    let journal = Journal()
    let environment = try Environment(name: "shop").useClock(clock)
    try environment.define(
      environment.bean(Report.self, factory: Report.init)
        .scheduled(at: expression, in: ScheduleZone(zone)) { _ in
          let now = Date(timeIntervalSince1970: Double(clock.timeSinceEpoch.components.seconds))
          journal.note(String(now.ISO8601Format().dropLast(4)))
        })
    try environment.startup()
    try await clock.waitForSleepers()
    try await clock.advanceStepwise(by: .seconds(3 * 86_400))
    try await environment.shutdown()
    return journal.entries
  }

  @Test(
    "A time that the change to summer time skips runs at the next minute that exists",
    arguments: [
      // 02:00 is followed by 03:00, at 01:00 UTC.
      ("Europe/Berlin", "30 2 * * *", ["2023-03-25T01:30", "2023-03-26T01:00", "2023-03-27T00:30"]),
      // 02:00 is followed by 03:00, at 07:00 UTC.
      ("America/New_York", "15 2 * * *", ["2023-03-11T07:15", "2023-03-12T07:00", "2023-03-13T06:15"]),
      // 02:00 is followed by 02:30, at 15:30 UTC of the day before.
      ("Australia/Lord_Howe", "15 2 * * *", ["2023-09-29T15:45", "2023-09-30T15:30", "2023-10-01T15:15"]),
      // 00:00 is followed by 01:00, at 04:00 UTC.
      ("America/Santiago", "0 0 * * *", ["2023-09-02T04:00", "2023-09-03T04:00", "2023-09-04T03:00"]),
      // Several times that are skipped are one call, also together with a time that exists.
      ("Europe/Berlin", "*/30 2,3 26 3 *", ["2023-03-26T01:00", "2023-03-26T01:30"]),
    ])
  func skippedTime(_ zone: String, _ expression: String, _ expected: [String]) async throws {
    let start = try #require(expected.first).prefix(10)
    #expect(try await calls(of: expression, in: zone, from: "\(start)T00:00") == expected)
  }

  @Test(
    "A time that occurs twice runs once, when it occurs first",
    arguments: [
      // 03:00 is followed by 02:00, at 01:00 UTC.
      ("Europe/Berlin", "30 2 * * *", ["2023-10-28T00:30", "2023-10-29T00:30", "2023-10-30T01:30"]),
      // 02:00 is followed by 01:00, at 06:00 UTC.
      ("America/New_York", "30 1 * * *", ["2023-11-04T05:30", "2023-11-05T05:30", "2023-11-06T06:30"]),
      // 02:00 is followed by 01:30, at 15:00 UTC of the day before.
      ("Australia/Lord_Howe", "45 1 * * *", ["2023-03-31T14:45", "2023-04-01T14:45", "2023-04-02T15:15"]),
      // 24:00 is followed by 23:00, at 03:00 UTC.
      ("America/Santiago", "30 23 * * *", ["2023-04-01T02:30", "2023-04-02T02:30", "2023-04-03T03:30"]),
    ])
  func repeatedTime(_ zone: String, _ expression: String, _ expected: [String]) async throws {
    let start = try #require(expected.first).prefix(10)
    #expect(try await calls(of: expression, in: zone, from: "\(start)T00:00") == expected)
  }

  @Test("A program that starts when a time occurs for the second time does not run it")
  func startDuringTheSecondTime() async throws {
    let found = try await calls(of: "30 2 * * *", in: "Europe/Berlin", from: "2023-10-29T01:10")
    #expect(found == ["2023-10-30T01:30", "2023-10-31T01:30"])
  }
}
