import Beans
import Foundation
import Testing

/// The document lists every fault of the tests, with the text that is really printed.
@Suite("Sources/Beans/Beans.docc/Faults.md") struct FaultDocumentTests {
  @Test("has the row of every fault, to the letter; UPDATE_DOCUMENTS=yes writes them")
  func rows() async throws {
    let expected = try await FaultTable.sections(Fault.all)
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

  @Test("can be read as a table: no text breaks out of its column")
  func columns() async throws {
    for row in try await FaultTable(Fault.all).rows {
      #expect(row.split(separator: "|").count == 3, "\(row)")
      #expect(row.count(where: { $0 == "`" }) % 2 == 0 && !row.contains("``"), "\(row)")
    }
  }
}
