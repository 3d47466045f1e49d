import Foundation
import Testing

/// The budgets of DESIGN for the size of the sources and of the public API, as a ratchet: `sizes.txt` has the figures of today, which a commit
/// lowers together with the sources and never raises (`scripts/check-commits`).
@Suite("The size of the sources") struct SizeTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Sources")

  /// A figure of `sizes.txt`.
  private struct Limit: CustomTestStringConvertible {
    let name: String
    let figure: Int
    /// The figure that DESIGN asks for, if it asks for one.
    let budget: Int?

    var testDescription: String { name }
  }

  private static let limits = Result {
    try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("sizes.txt"),
      encoding: .utf8
    )
    .split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let columns = line.split(separator: " ")
      let figure = try #require(columns.count > 1 ? Int(columns[1]) : nil, "\(line)")
      return Limit(name: String(columns[0]), figure: figure, budget: columns.count > 2 ? Int(columns[2]) : nil)
    }
  }

  @Test("No module and no folder has more lines of code than before")
  func linesOfCode() throws {
    let limits = try Self.limits.get().filter { !$0.name.contains(":") }
    let modules = try FileManager.default.contentsOfDirectory(atPath: Self.root.path).sorted()
    for module in modules {
      let folder = Self.root.appendingPathComponent(module)
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
      if files.isEmpty { continue }
      #expect(limits.contains { $0.name == module }, "sizes.txt has no figure for \(module)")
      let lines = try files.map { file in
        let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        return (path: "\(module)/\(file)", count: SwiftSource.linesOfCode(text))
      }
      for limit in limits where limit.name.split(separator: "/")[0] == module {
        expect(lines.reduce(0) { $0 + ($1.path.hasPrefix("\(limit.name)/") ? $1.count : 0) }, within: limit)
      }
    }
  }

  @Test("No count of what makes Beans hard to read is higher than before")
  func signs() throws {
    let limits = try Self.limits.get()
    let sources = try SwiftSource.beans.get()
    let extended = sources.count { $0.extended.contains("Environment") }
    let counts = [
      "Beans:files-of-Environment": extended,
      "Beans:ternaries": sources.reduce(0) { $0 + $1.ternaries },
      "Beans:tests-of-modes": sources.reduce(0) { $0 + $1.testsOfModes },
    ]
    for (name, count) in counts {
      let limit = try #require(limits.first { $0.name == name }, "sizes.txt has no figure for \(name)")
      expect(count, within: limit)
    }
  }

  @Test("No module has more public declarations than before")
  func publicDeclarations() throws {
    let limits = try Self.limits.get()
    let kept = Self.root.deletingLastPathComponent().appendingPathComponent(".ci/api")
    var sum = 0
    for file in try FileManager.default.contentsOfDirectory(atPath: kept.path).sorted() {
      let module = file.replacing(".txt", with: "")
      let text = try String(contentsOf: kept.appendingPathComponent(file), encoding: .utf8)
      let count = text.split(separator: "\n").count { !$0.contains(" conforms to ") && !$0.contains(" inherits from ") }
      let limit = limits.first { $0.name == "\(module):public" }
      expect(count, within: try #require(limit, "sizes.txt has no figure for \(module):public"))
      sum += count
    }
    let limit = limits.first { $0.name == "all:public" }
    expect(sum, within: try #require(limit, "sizes.txt has no figure for all:public"))
  }

  /// Expects a count within its figure, and a figure that follows the count down.
  private func expect(_ count: Int, within limit: Limit) {
    let budget = limit.budget.map { "; the budget is \($0)" } ?? ""
    #expect(count <= limit.figure, "\(limit.name): \(count), more than \(limit.figure)\(budget)")
    let slack = max(1, limit.figure / 100)
    #expect(count >= limit.figure - slack, "\(limit.name): \(count): lower \(limit.figure) in sizes.txt\(budget)")
  }

  @Test("Comments, empty lines and strings are not code")
  func counting() {
    let source = SwiftSource(
      path: "A/B.swift",
      text: #"""
        /// A comment ? of : one line.
        extension Outer {  // continued

          var text: String { isEmpty ? "a ? b : c" : other }
          func test() -> Bool { core.kind.contains(.plain) || kind.isDisjoint(with: .all) }
        }
        """#)
    #expect(source.linesOfCode == 4)
    #expect(source.ternaries == 1)
    #expect(source.testsOfModes == 2)
    #expect(source.extended == ["Outer"])
  }
}
