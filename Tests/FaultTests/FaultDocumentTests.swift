import Beans
import Foundation
import Testing

/// The document lists every fault of the tests, with the text that is really printed.
@Suite("Sources/Beans/Beans.docc/Faults.md") struct FaultDocumentTests {
  @Test("has the row of every fault, to the letter; UPDATE_DOCUMENTS=yes writes them")
  func rows() throws {
    let expected = try FaultTable(Fault.all).rows
    let document = try FaultDocument()
    if ProcessInfo.processInfo.environment["UPDATE_DOCUMENTS"] == "yes" {
      return try document.write(expected)
    }
    let rows = document.rows
    for change in expected.difference(from: rows) {
      switch change {
      case .remove(let index, let row, _): Issue.record("row \(index + 1) is no longer true:\n\(row)")
      case .insert(let index, let row, _):
        Issue.record("row \(index + 1) should be (UPDATE_DOCUMENTS=yes writes it):\n\(row)")
      }
    }
  }

  @Test("can be read as a table: no text breaks out of its column")
  func columns() throws {
    for row in try FaultTable(Fault.all).rows {
      #expect(row.split(separator: "|").count == 4, "\(row)")
      #expect(row.count(where: { $0 == "`" }) % 2 == 0 && !row.contains("``"), "\(row)")
    }
  }
}
