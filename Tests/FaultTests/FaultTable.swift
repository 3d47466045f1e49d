import Beans
import Foundation

/// What the document says of faults: a table for each code, with a row for each fault, made by doing it.
struct FaultTable {
  let rows: [String]

  private static let head = "| cause | what is printed | what helps |\n|---|---|---|\n"

  /// The sections of all codes, in the order in which these come first.
  static func sections(_ faults: [Fault]) async throws -> String {
    var codes: [EnvironmentError.Code] = []
    for fault in faults where !codes.contains(fault.code) { codes.append(fault.code) }
    var sections: [String] = []
    for code in codes {
      let rows = try await FaultTable(faults.filter { $0.code == code }).rows
      sections.append("## \(code)\n\n\(head)\(rows.joined(separator: "\n"))\n")
    }
    return sections.joined(separator: "\n")
  }

  init(_ faults: [Fault]) async throws {
    var rows: [String] = []
    for fault in faults {
      let columns = [fault.cause, "`\(Self.text(of: try await fault.inject()))`", fault.fix]
      rows.append("| \(columns.joined(separator: " | ")) |")
    }
    self.rows = rows
  }

  private static var place: Regex<Substring> { /FaultTests\/[\w+]+\.swift:\d+/ }

  /// The message as it is printed, in one line, without what changes with every line of the tests or with the machine.
  static func text(of error: EnvironmentError) -> String {
    var text = "\(error)".replacing(FileManager.default.temporaryDirectory.path, with: "")
      .replacing(/\/+[-0-9A-F]{36}\//, with: "")
      .replacing(/\s+/, with: " ")
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

  static func lines(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
  }

  /// Writes the file anew with these sections instead of its own.
  func write(_ sections: String) throws {
    let introduction = text.range(of: Self.first).map { text[..<$0.lowerBound] } ?? text[...]
    try "\(introduction)\(sections)".write(toFile: Self.path, atomically: true, encoding: .utf8)
  }
}
