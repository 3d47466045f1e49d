/// Text that values are written as, and text that only looks so.
enum RandomText {
  private static let special = [
    "", " ", "0", "-0", "1", "+1", "-1", "127", "128", "-128", "-129", "255", "256", "32767", "65536", "2147483648",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616", "170141183460469231731687303715884105727", "340282366920938463463374607431768211456",
    "1e308", "1e309", "-1e309", "1e-400", "65504", "65520", "3.4e38", "3.5e38", "0.1", ".5", "5.", "inf", "-inf",
    "infinity", "nan", "-nan", "nan(0x7f)", "snan", "0x1p-1074", "0x", "0x10", "1_000", "٣", "½", "true", "FALSE",
    "yes",
    "On", "off", "maybe", "red", "green", "blue", "1s", "250ms", "1.5h", "1h30m", "-2d", "µs", "3µs", "3us",
    "0.000000001ns",
    "106751991167300d", "106751991167301d", "9223372036854775807s", "9223372036854775808s", "99999999999999999999h",
    "1.s", "1..2s", "1 s", "1s 2s", "--1s", "s", "1.5.5m", "a,b", "1, 2,3", ",", ",,,", "1,,2", "red,green", "\u{0}",
    "e\u{301}", "👨‍👩‍👧", "\r\n", "\u{FEFF}1", "\u{2028}", "$", "${", "x y", "  12  ",
  ]

  static func make(_ random: inout RandomNumbers) -> String {
    switch random.below(8) {
    case 0: return String(Int64(truncatingIfNeeded: random.next() >> UInt64(random.below(64))))
    case 1: return "\(Double(bitPattern: random.next()))"
    case 2: return number(&random) + random.pick(["d", "h", "m", "s", "ms", "us", "ns", "µs", "x", ""])
    case 3: return (0..<random.below(4)).map { _ in random.pick(special) }.joined(separator: ",")
    case 4: return random.pick(special) + random.pick(special)
    case 5:
      return String(
        decoding: (0..<random.below(12)).map { _ in UInt8(truncatingIfNeeded: random.next()) }, as: UTF8.self)
    default: return random.pick(special)
    }
  }

  private static func number(_ random: inout RandomNumbers) -> String {
    let digits = (0..<random.below(random.once(in: 10) ? 60 : 6)).map { _ in String(random.below(10)) }.joined()
    return random.once(in: 3) ? digits + "." + String(random.below(1_000_000)) : digits
  }
}
