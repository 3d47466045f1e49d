/// Columns and figures of the printed tables.
enum Text {
  static func column(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  static func title(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// With so many digits after the point.
  static func number(_ value: Double, digits: Int) -> String {
    guard value.isFinite else { return "-" }
    let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((value * Double(scale)).rounded())
    guard digits > 0 else { return "\(scaled)" }
    let fraction = "\(abs(scaled) % scale)"
    let sign = scaled < 0 ? "-" : ""
    return "\(sign)\(abs(scaled) / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
  }

  /// A whole number, with a comma before each three digits.
  static func grouped(_ value: Double) -> String {
    let digits = Array(number(value, digits: 0))
    return digits.enumerated().map { index, digit in
      let left = digits.count - index
      return index > 0 && left % 3 == 0 ? ",\(digit)" : "\(digit)"
    }.joined()
  }
}
