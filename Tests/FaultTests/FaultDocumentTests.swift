import Beans
import Foundation
import Testing

/// The document lists every fault of the tests, with its printed text.
@Suite("The document Sources/Beans/Beans.docc/Faults.md") struct FaultDocumentTests {
  @Test("The document has the row of every fault, to the letter; UPDATE_DOCUMENTS=yes writes them")
  func rows() async throws {
    let expected = try await FaultTable(Fault.all).sections
    let document = try FaultDocument()
    if ProcessInfo.processInfo.environment["UPDATE_DOCUMENTS"] == "yes" {
      return try document.write(expected)
    }
    for change in FaultDocument.lines(expected).difference(from: document.lines) {
      switch change {
      case .remove(let index, let line, _): Issue.record("line \(index + 1) is no longer true:\n\(line)")
      case .insert(let index, let line, _):
        Issue.record("line \(index + 1) should be (UPDATE_DOCUMENTS=yes writes it):\n\(line)")
      }
    }
  }

  @Test("The document can be read as a table: no text exceeds its column")
  func columns() async throws {
    for row in try await FaultTable(Fault.all).rows.values.joined() {
      #expect(row.split(separator: "|").count == 2, "\(row)")
      #expect(row.count(where: { $0 == "`" }) % 2 == 0 && !row.contains("``"), "\(row)")
    }
  }

  @Test("The document has the section to which each report refers", arguments: Fault.all)
  func link(_ fault: Fault) async throws {
    let error = try await fault.inject()
    let document = try FaultDocument()
    let single = error.underlying.count < 2 ? [error] : error.underlying.compactMap { $0 as? EnvironmentError }
    for error in single {
      let report = error.report.split(separator: "\n")
      let link = try #require(report.last { $0.hasPrefix("see ") }?.split(separator: "#").last, "\(error.report)")
      let found = document.section(link)
      let section = try #require(found, "there is no section \(link)")
      #expect(section.contains(error.help), "\(link) does not say what helps")
      #expect(report.contains("help: \(error.help)"))
    }
  }

  @Test("The document shows each cause, except those of BeansTesting and of an exhausted stack")
  func causes() async throws {
    let others: Set<FaultCause> = [
      .unmetOverride, .ambiguousOverride, .impossibleOverride, .nothingToOverride, .noTestEnvironment, .forbiddenBean,
      .referencedAfterEnd, .deepBuild,
    ]
    let shown = try await FaultTable(Fault.all).rows.keys
    #expect(Set(FaultCause.allCases).subtracting(shown) == others)
  }
}
