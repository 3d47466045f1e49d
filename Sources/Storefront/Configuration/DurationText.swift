/// Durations in the notation of the settings: `90` (seconds), `250ms`, `30s`, `5m`, `2h`; whole numbers only.
enum DurationText {
  /// Parses a duration; returns nil for any other text and for a duration longer than a thousand years.
  static func parse(_ text: String) -> Duration? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let milliseconds: Int64
    switch text[digits.endIndex...] {
    case "ms": milliseconds = 1
    case "", "s": milliseconds = 1_000
    case "m": milliseconds = 60_000
    case "h": milliseconds = 3_600_000
    default: return nil
    }
    guard let count = Int64(digits), case (let total, false) = count.multipliedReportingOverflow(by: milliseconds),
      total <= 31_557_600_000_000
    else { return nil }
    return .milliseconds(total)
  }
}
