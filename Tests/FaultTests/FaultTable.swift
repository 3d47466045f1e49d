import Beans
import Foundation

/// The table of the document: one row for each fault, made by doing it.
struct FaultTable {
  let rows: [String]

  init(_ faults: [Fault]) throws {
    rows = try faults.map { fault in
      let columns = ["`\(fault.code)`", fault.cause, "`\(Self.text(of: try fault.inject()))`", fault.fix]
      return "| \(columns.joined(separator: " | ")) |"
    }
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
  private static let head = "| code | cause | what is printed | what helps |\n|---|---|---|---|\n"

  let text: String

  /// The file as it is.
  init() throws { text = try String(contentsOfFile: Self.path, encoding: .utf8) }

  /// The rows of the table, which is the end of the document.
  var rows: [String] {
    guard let table = text.range(of: Self.head) else { return [] }
    return text[table.upperBound...].split(separator: "\n").map { String($0) }
  }

  /// Writes the file anew with these rows instead of its own.
  func write(_ rows: [String]) throws {
    let introduction = text.range(of: Self.head).map { text[..<$0.lowerBound] } ?? text[...]
    let changed = "\(introduction)\(Self.head)\(rows.joined(separator: "\n"))\n"
    try changed.write(toFile: Self.path, atomically: true, encoding: .utf8)
  }
}
