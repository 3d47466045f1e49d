/// A day of the Gregorian calendar.
struct CivilDay: Equatable, Comparable {
  let year: Int
  let month: Int
  let day: Int

  init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// Parses a day such as "2026-11-21"; nil for any other text.
  init?(_ text: Substring) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 3, zip(parts, [4, 2, 2]).allSatisfy({ $0.count == $1 }) else { return nil }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard parts.allSatisfy({ $0.allSatisfy(digits.contains) }) else { return nil }
    let numbers = parts.map { $0.reduce(0) { $0 * 10 + Int($1 - digits.lowerBound) } }
    guard 1...12 ~= numbers[1], 1...31 ~= numbers[2] else { return nil }
    self.init(year: numbers[0], month: numbers[1], day: numbers[2])
  }

  static func < (left: CivilDay, right: CivilDay) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }

  /// The number of days since 1 January 1970: consecutive days have consecutive numbers.
  var number: Int {
    // Years begin in March here, so that the leap day is the last one.
    let shifted = month > 2 ? year : year - 1
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The day of the week, from 0 for Sunday.
  var weekday: Int { ((number + 4) % 7 + 7) % 7 }

  /// The day as text, such as "2026-11-21".
  var text: String {
    "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
  }

  static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number.magnitude)
    let zeros = String(repeating: "0", count: max(0, width - digits.count))
    return (number < 0 ? "-" : "") + zeros + digits
  }
}
