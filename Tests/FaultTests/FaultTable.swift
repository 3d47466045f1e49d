import Beans
import Foundation

/// What the document says of faults: a section for each cause, with a row for each fault that comes of it, made by doing that.
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

  /// The sections of all causes: what helps is what reports say.
  var sections: String {
    FaultCause.allCases.map { cause in
      let table = rows[cause].map { ["| fault | message |\n|---|---|"] + $0 } ?? []
      return (["\(cause.isUsual ? "##" : "###") \(cause.heading)\n", "\(cause.help)\n"] + table)
        .joined(separator: "\n") + (table.isEmpty ? "" : "\n")
    }.joined(separator: "\n")
  }

  private static var place: Regex<Substring> { /FaultTests\/[\w+]+\.swift:\d+/ }

  /// The message as it is printed, in one line, without what changes with every line of the tests or with the machine.
  static func text(of error: EnvironmentError) -> String {
    withoutPlaces(
      "\(error)".replacing(FileManager.default.temporaryDirectory.path, with: "")
        .replacing(/\/+[-0-9A-F]{36}\//, with: "")
        .replacing(/\s+/, with: " "))
  }

  /// The text with other lines in the place of those of the tests.
  static func withoutPlaces(_ text: String) -> String {
    var text = text
    let places = Set(text.matches(of: place).map { String($0.output) })
    // Numbered from 1, as if the faulty declarations were all there is in the file.
    for (number, place) in places.sorted(by: { ($0.count, $0) < ($1.count, $1) }).enumerated() {
      text = text.replacing(place, with: "Shop.swift:\(number + 1)")
    }
    return text
  }
}

/// The document that holds the table, for people to look their fault up in.
struct FaultDocument {
  static let path = {
    let folders = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    return folders.joined(separator: "/") + "/Sources/Beans/Beans.docc/Faults.md"
  }()
  private static let first = "## unknownBean\n"

  let text: String

  /// The file as it is.
  init() throws { text = try String(contentsOfFile: Self.path, encoding: .utf8) }

  /// The lines from the first section on, to the end of the document.
  var lines: [String] { Self.lines(text.range(of: Self.first).map { String(text[$0.lowerBound...]) } ?? "") }

  /// What stands below the heading with that anchor, as far as the next one; nil where there is none.
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
