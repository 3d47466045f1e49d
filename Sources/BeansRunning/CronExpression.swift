/// The times of cron: five fields for minute, hour, day of the month, month and day of the week.
///
/// A field is a list of numbers, ranges and `*`, each with an optional step; months and days of the week also have
/// English names of three letters, and Sunday is 0 or 7. If both day fields are restricted, a day that matches one of
/// them is due. A field that begins with `*` is not restricted in this sense.
struct CronExpression: Sendable {
  /// The reason why a text is no cron expression.
  struct Malformed: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// One field, with the numbers that it allows.
  private struct Field: Sendable {
    let name: String
    let numbers: ClosedRange<Int>
    var names: [String] = []
    /// The number that `names` begin with.
    var first: Int { numbers.lowerBound }

    static let minute = Field(name: "minute", numbers: 0...59)
    static let hour = Field(name: "hour", numbers: 0...23)
    static let day = Field(name: "day of the month", numbers: 1...31)
    static let month = Field(
      name: "month", numbers: 1...12,
      names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
    static let weekday = Field(
      name: "day of the week", numbers: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
    static let all = [minute, hour, day, month, weekday]
  }

  /// Sets of numbers as bits: minutes, hours, days, months, and days of the week from Sunday, which is 0.
  private let minutes: UInt64
  private let hours: UInt64
  private let days: UInt64
  private let months: UInt64
  private let weekdays: UInt64
  /// Whether a day has to match both day fields, because one of them begins with `*`.
  private let needsBothDays: Bool

  /// Reads an expression.
  init(_ text: String) throws(Malformed) {
    let fields = text.split(whereSeparator: \.isWhitespace)
    guard fields.count == 5 else {
      throw Malformed(
        "it has \(fields.count) fields instead of five: minute, hour, day of the month, month, day of the week")
    }
    var sets: [UInt64] = []
    for (field, text) in zip(Field.all, fields) { sets.append(try Self.numbers(in: text, of: field)) }
    (minutes, hours, days, months) = (sets[0], sets[1], sets[2], sets[3])
    // Sunday has two numbers.
    weekdays = (sets[4] | sets[4] >> 7) & 0x7f
    needsBothDays = fields[2].hasPrefix("*") || fields[4].hasPrefix("*")
    let longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    let isPossible = (1...12).contains { month in
      Self.contains(months, month) && (1...longest[month - 1]).contains { Self.contains(days, $0) }
    }
    if needsBothDays, !isPossible { throw Malformed("it is never due: no month that it names has such a day") }
  }

  private static func contains(_ set: UInt64, _ number: Int) -> Bool { set >> UInt64(number) & 1 == 1 }

  // MARK: reading

  private static func numbers(in text: Substring, of field: Field) throws(Malformed) -> UInt64 {
    var found: UInt64 = 0
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      found |= try numbers(inPart: part, of: field)
    }
    return found
  }

  private static func numbers(inPart part: Substring, of field: Field) throws(Malformed) -> UInt64 {
    let pieces = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    var step = 1
    if pieces.count == 2 {
      guard let number = number(pieces[1]), number > 0 else {
        throw Malformed("\(field.name): '\(pieces[1])' is no step; write a number above zero")
      }
      step = number
    }
    let range = pieces[0]
    let bounds: ClosedRange<Int>
    if range == "*" {
      // Sunday once.
      bounds = field.name == Field.weekday.name ? 0...6 : field.numbers
    } else {
      let ends = range.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
      let low = try value(ends[0], of: field)
      var high = ends.count == 2 ? try value(ends[1], of: field) : pieces.count == 2 ? field.numbers.upperBound : low
      // Ranges up to Sunday.
      if field.name == Field.weekday.name, ends.count == 2, high == 0, low > 0 { high = 7 }
      guard low <= high else { throw Malformed("\(field.name): '\(range)' ends before it begins") }
      bounds = low...high
    }
    return stride(from: bounds.lowerBound, through: bounds.upperBound, by: step).reduce(0) { $0 | 1 << UInt64($1) }
  }

  private static func value(_ text: Substring, of field: Field) throws(Malformed) -> Int {
    if let index = field.names.firstIndex(of: text.lowercased()) { return index + field.first }
    guard let number = number(text) else {
      throw Malformed("\(field.name): '\(text)' is no number\(field.names.isEmpty ? "" : " and no name")")
    }
    guard field.numbers.contains(number) else {
      throw Malformed(
        "\(field.name): \(number) is not between \(field.numbers.lowerBound) and \(field.numbers.upperBound)")
    }
    return number
  }

  /// Returns the number that decimal digits spell; nil for any other text.
  private static func number(_ text: Substring) -> Int? {
    text.allSatisfy { $0.isASCII && $0.isNumber } && text.count < 10 ? Int(text) : nil
  }

  // MARK: times

  private static let secondsOfDay: Int64 = 86_400

  /// Returns the first time that is due after another one: the wall clock of the zone first shows a time of the expression
  /// then, or skips it. So a time that a change of the clock repeats is due once.
  ///
  /// - Parameter time: the seconds since 1970, UTC.
  /// - Returns: the seconds since 1970, UTC.
  func next(after time: Int64, in zone: ScheduleZone = .utc) -> Int64 {
    zone.time(of: nextLocal(after: zone.latestLocalTime(until: time)), after: time)
  }

  /// Returns the first time of the expression after another one, both as seconds since 1970 in a zone without an offset.
  private func nextLocal(after time: Int64) -> Int64 {
    let local = time.flooring(by: 60) * 60 + 60
    var day = local.flooring(by: Self.secondsOfDay)
    var minute = Int((local - day * Self.secondsOfDay) / 60)
    while true {
      if isDue(day: day) {
        while minute < 24 * 60 {
          let hour = minute / 60
          if !Self.contains(hours, hour) {
            minute = (hour + 1) * 60
          } else if !Self.contains(minutes, minute % 60) {
            minute += 1
          } else {
            return day * Self.secondsOfDay + Int64(minute) * 60
          }
        }
      }
      day += 1
      minute = 0
    }
  }

  /// Whether times of a day are due, given the number of days since 1970. Within 40 years some day is, because a
  /// February 29 falls on each day of the week within that time.
  private func isDue(day: Int64) -> Bool {
    let (month, dayOfMonth) = Self.date(of: day)
    guard Self.contains(months, month) else { return false }
    // January 1, 1970 was a Thursday.
    let weekday = Int(day + 4 - (day + 4).flooring(by: 7) * 7)
    let (isDay, isWeekday) = (Self.contains(days, dayOfMonth), Self.contains(weekdays, weekday))
    return needsBothDays ? isDay && isWeekday : isDay || isWeekday
  }

  /// Returns the month and its day, given the number of days since 1970, in the Gregorian calendar.
  private static func date(of day: Int64) -> (month: Int, day: Int) {
    // Days since March 1 of the year 0: the leap day is the last of such a year.
    let shifted = day + 719_468
    let ofEra = shifted - shifted.flooring(by: 146_097) * 146_097
    let year = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * year + year / 4 - year / 100)
    let month = (5 * ofYear + 2) / 153
    return (Int(month < 10 ? month + 3 : month - 9), Int(ofYear - (153 * month + 2) / 5 + 1))
  }
}

extension Int64 {
  /// Returns the quotient, rounded down.
  fileprivate func flooring(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
