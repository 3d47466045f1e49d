#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The files of one rolling log: the current one, and its copies by day.
struct RollingFiles {
  var directory: String
  private let baseName: String
  private static let ending = ".log"

  init(directory: String, baseName: String) throws(LogError) {
    guard !baseName.isEmpty, !baseName.contains("/"), !baseName.utf8.contains(0), !directory.utf8.contains(0) else {
      throw LogError("'\(baseName)' in '\(directory)' cannot be the name of log files")
    }
    // "app-2026-11-21.log" would look like a copy of another log, "app", which would delete it one day.
    if Self.endsLikeCopy(baseName) {
      throw LogError("a log cannot be named '\(baseName)': copies of another log have such names")
    }
    self.directory = directory.isEmpty ? "." : directory
    self.baseName = baseName
  }

  var current: String { "\(directory)/\(baseName)\(Self.ending)" }

  /// Returns an unused name for a copy, without a number if possible.
  func copy(of day: CivilDay) -> String {
    let taken = copies().filter { $0.day == day }.map(\.number)
    let start = "\(directory)/\(baseName)-\(day.text)"
    guard let last = taken.max() else { return start + Self.ending }
    return "\(start).\(last + 1)\(Self.ending)"
  }

  /// - Parameter number: the number of the first day that is kept.
  func deleteCopies(before number: Int) {
    for copy in copies() where copy.day.number < number { unsafe unlink("\(directory)/\(copy.name)") }
  }

  private struct Copy {
    let name: String
    let day: CivilDay
    /// The number of the copy within its day; 0 for a name without one.
    let number: Int
  }

  /// Returns the existing copies of this log only.
  private func copies() -> [Copy] {
    guard let stream = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(stream) }
    var copies: [Copy] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if let copy = copy(name) { copies.append(copy) }
    }
    return copies
  }

  /// Parses `<baseName>-yyyy-MM-dd[.number].log`; nil for any other name.
  private func copy(_ name: String) -> Copy? {
    let start = Array("\(baseName)-".utf8)
    guard name.utf8.starts(with: start), name.hasSuffix(Self.ending) else { return nil }
    let mark = Substring(name.utf8.dropFirst(start.count)).dropLast(Self.ending.count)
    return Self.mark(mark).map { Copy(name: name, day: $0.day, number: $0.number) }
  }

  /// Parses the part in which the copies of a log differ: `yyyy-MM-dd` or `yyyy-MM-dd.number`.
  private static func mark(_ text: Substring) -> (day: CivilDay, number: Int)? {
    guard let day = CivilDay(text.prefix(10)) else { return nil }
    let rest = text.dropFirst(10)
    if rest.isEmpty { return (day, 0) }
    guard rest.first == ".", let number = Int(rest.dropFirst()), 0 < number, number < Int.max else { return nil }
    return (day, number)
  }

  private static func endsLikeCopy(_ name: String) -> Bool {
    name.indices.contains { name[$0] == "-" && mark(name[name.index(after: $0)...]) != nil }
  }
}
