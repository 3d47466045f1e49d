/// A parsed date pattern: `y M d H h m s S a E Z` are fields, `'…'` quotes text (`''` is one quote), any other
/// character is copied.
///
/// Names of months and days are English.
struct TimestampPattern {
  private enum Part {
    case literal(String)
    case field(Character, count: Int)
  }

  private let parts: [Part]
  /// The letters outside of quotes that are no fields, each once.
  let unknownLetters: [Character]

  init(_ pattern: String) {
    var parts: [Part] = []
    var unknown: [Character] = []
    var literal = ""
    func endLiteral() {
      if !literal.isEmpty { parts.append(.literal(literal)) }
      literal = ""
    }
    var rest = Substring(pattern)
    while let letter = rest.first {
      if letter == "'" {
        literal += Self.takeQuoted(&rest)
      } else if "yMdHhmsSaEZ".contains(letter) {
        endLiteral()
        let run = rest.prefix { $0 == letter }
        parts.append(.field(letter, count: run.count))
        rest = rest.dropFirst(run.count)
      } else {
        if letter.isASCII, letter.isLetter, !unknown.contains(letter) { unknown.append(letter) }
        literal.append(letter)
        rest = rest.dropFirst()
      }
    }
    endLiteral()
    self.parts = parts
    unknownLetters = unknown
  }

  /// The fault of the pattern and its remedy; nil where there is none.
  static func fault(of pattern: String, _ letters: [Character]) -> String? {
    if letters.isEmpty { return nil }
    let advice = letters.map { letter in
      let field: String? =
        switch letter {
        case "Y", "u": "the year is y"
        case "D": "the day of the month is d"
        case "L": "the month is M"
        case "k", "K": "the hour is H or h"
        case "A", "n", "N": "the fraction of a second is S"
        case "c", "e": "the day of the week is E"
        case "X", "x", "z", "v", "V", "O": "the time zone is Z, as +01:00 ZZZZZ"
        default: nil
        }
      return "\(letter) is no field and is copied: \(field.map { "\($0), " } ?? "")text goes in quotes, '\(letter)'"
    }
    return "pattern \"\(pattern)\" of a timestamp: " + advice.joined(separator: "; ")
  }

  /// Removes a quoted text from the front, and returns it without its quotes. A quote that is never closed extends to
  /// the end.
  private static func takeQuoted(_ rest: inout Substring) -> String {
    rest = rest.dropFirst()
    if rest.first == "'" {
      rest = rest.dropFirst()
      return "'"
    }
    var text = ""
    while let letter = rest.popFirst() {
      if letter != "'" {
        text.append(letter)
      } else if rest.first == "'" {
        text.append("'")
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    return text
  }

  func append(_ time: CivilTime, to text: inout String) {
    for part in parts {
      switch part {
      case .literal(let literal): text += literal
      case .field(let letter, let count): text += Self.field(letter, count, time)
      }
    }
  }

  private static func field(_ letter: Character, _ count: Int, _ time: CivilTime) -> String {
    switch letter {
    case "y": CivilDay.padded(count == 2 ? time.day.year % 100 : time.day.year, count)
    case "M": month(time.day.month, count)
    case "d": CivilDay.padded(time.day.day, count)
    case "H": CivilDay.padded(time.hour, count)
    case "h": CivilDay.padded((time.hour + 11) % 12 + 1, count)
    case "m": CivilDay.padded(time.minute, count)
    case "s": CivilDay.padded(time.second, count)
    case "S": fraction(time.nanosecond, count)
    case "a": time.hour < 12 ? "AM" : "PM"
    case "E": count < 4 ? String(days[time.day.weekday].prefix(3)) : days[time.day.weekday]
    default: zone(time.offset, count)
    }
  }

  private static func month(_ month: Int, _ count: Int) -> String {
    guard count > 2, months.indices.contains(month - 1) else { return CivilDay.padded(month, count) }
    return count == 3 ? String(months[month - 1].prefix(3)) : months[month - 1]
  }

  /// Returns `count` digits of the fraction of a second. The clock has nine; zeros follow.
  private static func fraction(_ nanosecond: Int, _ count: Int) -> String {
    let digits = CivilDay.padded(nanosecond, 9)
    return String(digits.prefix(count)) + String(repeating: "0", count: max(0, count - 9))
  }

  /// Returns "+0100"; for four letters "GMT+01:00", or "GMT" for UTC; for five "+01:00", or "Z" for UTC.
  private static func zone(_ offset: Int, _ count: Int) -> String {
    if count >= 5, offset == 0 { return "Z" }
    if count == 4, offset == 0 { return "GMT" }
    let minutes = abs(offset) / 60
    let (hour, minute) = (CivilDay.padded(minutes / 60, 2), CivilDay.padded(minutes % 60, 2))
    return (count == 4 ? "GMT" : "") + (offset < 0 ? "-" : "+") + hour + (count < 4 ? "" : ":") + minute
  }

  private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]
}
