import Beans
import Foundation

/// The faults in the document: a section for each cause, with a row for each fault of that cause, made by injecting it.
struct FaultTable {
  /// The rows of each cause.
  let rows: [FaultCause: [String]]

  init(_ faults: [Fault]) async throws {
    var rows: [FaultCause: [String]] = [:]
    for fault in faults {
      let error = try await fault.inject()
      rows[error.cause, default: []].append("| \(fault.cause) | `\(Self.text(of: error))` |")
    }
    self.rows = rows
  }

  /// The sections of all causes; the help is the text of reports.
  var sections: String {
    FaultCause.allCases.map { cause in
      let table = rows[cause].map { ["| fault | message |\n|---|---|"] + $0 } ?? []
      return (["\(cause.isUsual ? "##" : "###") \(cause.heading)\n", "\(cause.help)\n"] + table)
        .joined(separator: "\n") + (table.isEmpty ? "" : "\n")
    }.joined(separator: "\n")
  }

  private static var place: Regex<Substring> { /FaultTests\/[\w+]+\.swift:\d+/ }

  /// Returns the printed message in one line, without parts that change with the lines of the tests or with the
  /// machine.
  static func text(of error: EnvironmentError) -> String {
    withoutPlaces(
      "\(error)".replacing(FileManager.default.temporaryDirectory.path, with: "")
        .replacing(/\/+[-0-9A-F]{36}\//, with: "")
        .replacing(/\s+/, with: " "))
  }

  /// Returns the text with other lines in place of those of the tests.
  static func withoutPlaces(_ text: String) -> String {
    var text = text
    let places = Set(text.matches(of: place).map { String($0.output) })
    // Places are numbered from 1, as if the file contained only the faulty declarations.
    for (number, place) in places.sorted(by: { ($0.count, $0) < ($1.count, $1) }).enumerated() {
      text = text.replacing(place, with: "Shop.swift:\(number + 1)")
    }
    return text
  }
}

/// The document that holds the table, in which readers find their fault.
struct FaultDocument {
  static let path = {
    let folders = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    return folders.joined(separator: "/") + "/Sources/Beans/Beans.docc/Faults.md"
  }()
  private static let first = "## unknownBean\n"

  let text: String

  /// Reads the file.
  init() throws { text = try String(contentsOfFile: Self.path, encoding: .utf8) }

  /// The lines from the first section on, to the end of the document.
  var lines: [String] { Self.lines(text.range(of: Self.first).map { String(text[$0.lowerBound...]) } ?? "") }

  /// Returns the text below the heading with that anchor, up to the next one; nil if there is none.
  func section(_ anchor: some StringProtocol) -> String? {
    let lines = lines
    let isHeading = { (line: String) in line.hasPrefix("## ") || line.hasPrefix("### ") }
    let start = lines.firstIndex { isHeading($0) && $0.split(separator: " ").last?.lowercased() == String(anchor) }
    return start.map { lines[($0 + 1)...].prefix { !isHeading($0) }.joined(separator: "\n") }
  }

  static func lines(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
  }

  /// Writes the file anew with these sections instead of its own.
  func write(_ sections: String) throws {
    let introduction = text.range(of: Self.first).map { text[..<$0.lowerBound] } ?? text[...]
    try "\(introduction)\(sections)".write(toFile: Self.path, atomically: true, encoding: .utf8)
  }
}
