/// Durations in human-readable form: `250ms`, `1.5s`, `1h30m`.
enum DurationText {
  /// The units from the longest to the shortest, in attoseconds, the unit of `Duration`.
  private static let units: [(name: String, attoseconds: Int128)] = [
    ("d", 86_400_000_000_000_000_000_000), ("h", 3_600_000_000_000_000_000_000), ("m", 60_000_000_000_000_000_000),
    ("s", 1_000_000_000_000_000_000), ("ms", 1_000_000_000_000_000), ("us", 1_000_000_000_000), ("ns", 1_000_000_000),
  ]
  /// The longest duration: its seconds fit an `Int64`, the limit of `Duration.components`.
  private static let limit = Int128(Int64.max) * 1_000_000_000_000_000_000

  static func parse(_ given: String) throws -> Duration {
    var text = Substring(given.trimmed)
    let isNegative = text.first == "-"
    if isNegative || text.first == "+" { text.removeFirst() }
    if text == "0" { return .zero }
    var total: Int128 = 0
    var isEmpty = true
    while !text.isEmpty {
      let number = take(&text) { $0.isASCII && ($0.isNumber || $0 == ".") }
      let unit = take(&text) { $0.isLetter }
      text = text.drop(while: \.isWhitespace)
      guard let attoseconds = units.first(where: { $0.name == (unit == "µs" ? "us" : unit) })?.attoseconds,
        !number.isEmpty
      else { throw malformed }
      let (sum, overflows) = total.addingReportingOverflow(try multiply(number, attoseconds))
      guard !overflows, sum <= limit else { throw ConversionFailure("it is out of range") }
      total = sum
      isEmpty = false
    }
    if isEmpty { throw malformed }
    return Duration(attoseconds: isNegative ? -total : total)
  }

  private static let malformed = ConversionFailure(
    "expected a number and a unit (d, h, m, s, ms, us, ns), such as 250ms")

  private static func take(_ text: inout Substring, while isPart: (Character) -> Bool) -> Substring {
    let part = text.prefix(while: isPart)
    text = text[part.endIndex...]
    return part
  }

  /// Multiplies, and cuts decimals below one attosecond.
  private static func multiply(_ number: Substring, _ unit: Int128) throws -> Int128 {
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = parts.first, !whole.isEmpty, parts.last?.isEmpty == false else {
      throw malformed
    }
    guard let units = Int64(whole) else { throw ConversionFailure("it is out of range") }
    var (total, overflows) = Int128(units).multipliedReportingOverflow(by: unit)
    guard !overflows, total <= limit else { throw ConversionFailure("it is out of range") }
    var share = unit
    for digit in parts.count == 2 ? parts[1] : "" where share > 0 {
      share /= 10
      total += share * Int128(digit.wholeNumberValue ?? 0)
    }
    return total
  }

  /// Formats a duration in the longest unit without a remainder; below a nanosecond the remainder is cut.
  static func format(_ duration: Duration) -> String {
    let total = duration.attoseconds
    guard let unit = units.first(where: { total % $0.attoseconds == 0 }) ?? units.last, total != 0 else { return "0s" }
    return "\(total / unit.attoseconds)\(unit.name)"
  }
}
