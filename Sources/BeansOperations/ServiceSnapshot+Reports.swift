import Beans
import BeansServer

extension ServiceSnapshot {
  var isUp: Bool { isAlive && isReady }

  /// The live environments by scope, and the age of the oldest; null if that is not measured.
  var environments: JSON {
    let scopes = scopes.map { counts in
      JSON.object([
        ("scope", .string(counts.scope)), ("open", .integer(counts.open)),
        ("opened", .integer(counts.opened)), ("finished", .integer(counts.finished)),
        ("created", .integer(counts.created)), ("released", .integer(counts.released)),
        ("oldestSeconds", ages[counts.scope]?.oldest.map { .number($0.seconds) } ?? nil),
        ("longestIdleSeconds", ages[counts.scope]?.longestIdle.map { .number($0.seconds) } ?? nil),
      ])
    }
    let loops = loops.enumerated().map { number, loop in
      let count = loop.counts.reduce(0, +)
      return JSON.object([
        ("loop", .integer(number)), ("measured", .integer(count)),
        ("meanMicros", .integer(Int(loop.sum / UInt64(max(1, count)) / 1_000))),
        ("longestMicros", .integer(Int(loop.longest / 1_000))),
        ("bounds", .array(LoopLag.bounds.map { .number($0) })), ("counts", .array(loop.counts.map { .integer($0) })),
      ])
    }
    return .object([
      ("scopes", .array(scopes)), ("failedReleases", .integer(failedReleases)), ("sessions", sessionCounts),
      ("loops", .array(loops)),
    ])
  }

  /// The number of sessions, the ended ones by reason, the age of the oldest, and the longest idle time.
  var sessionCounts: JSON {
    .array(
      sessions.map { counts in
        .object([
          ("scope", .string(counts.scope)), ("open", .integer(counts.open)),
          ("capacity", counts.capacity.map { .integer($0) } ?? nil), ("inUse", .integer(counts.inUse)),
          ("opened", .integer(counts.opened)), ("rotated", .integer(counts.rotated)),
          ("expired", .integer(counts.expired)), ("evicted", .integer(counts.evicted)),
          ("ended", .integer(counts.ended)),
          ("oldestSeconds", counts.oldestAge.map { .number($0.seconds) } ?? nil),
          ("longestIdleSeconds", counts.longestIdle.map { .number($0.seconds) } ?? nil),
        ])
      })
  }
}
