import Beans
import BeansOperations
import Foundation
import Glibc
import Storefront
import Testing

/// The printed forms of the shop's graph, to the letter: the review of a change shows the new text to its readers.
@Suite("StorefrontTests/Graph/Golden") struct GoldenTests {
  @Test(
    "The golden files have the graph in each format",
    arguments: [("mermaid", "graph.mmd"), ("dot", "graph.dot"), ("json", "graph.json")])
  func graph(format: String, file: String) throws {
    try compare(run("graph --format \(format)"), file)
  }

  @Test(
    "The golden files have the output of the command about beans",
    arguments: [("why Cart SQLiteStore", "why.txt"), ("who-keeps Catalogue", "who-keeps.txt")])
  func questions(question: String, file: String) throws {
    try compare(run(question), file)
  }

  @Test("The golden files have the report of the environment and that of /beans")
  func reports() async throws {
    let application = try Environment(name: "application", traceOrigin: true)
    try Storefront.declare(application)
    try await application.ready()
    let report = application.report()
    let answer = try #require(Operations(environment: application).respond(method: "GET", path: "/beans"))
    try await application.shutdown()
    try compare(report, "report.txt")
    let beans = try JSONSerialization.jsonObject(with: Data(answer.body))
    let lines = try JSONSerialization.data(
      withJSONObject: beans, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    try compare(String(decoding: lines, as: UTF8.self) + "\n", "beans.json")
  }

  /// Runs the program of the shop's declarations, as `swift package beans` does, and returns its output.
  private func run(_ command: String) throws -> String {
    let folder = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .deletingLastPathComponent()
    let stream = try #require(popen("'\(folder.path)/StorefrontBeans' \(command)", "re"))
    var output: [UInt8] = []
    while case let byte = getc(stream), byte != EOF { output.append(UInt8(byte)) }
    #expect(pclose(stream) == 0)
    return String(decoding: output, as: UTF8.self)
  }

  /// Records an issue where the file has another text; UPDATE_DOCUMENTS=yes writes it.
  ///
  /// Compares without the numbers of source lines, which each edit of the shop changes.
  private func compare(_ text: String, _ file: String) throws {
    let text = text.replacing(/\.swift:[0-9]+/, with: ".swift:0").replacing(/"line" : [0-9]+/, with: "\"line\" : 0")
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(components: "Golden", file)
    if ProcessInfo.processInfo.environment["UPDATE_DOCUMENTS"] == "yes" {
      try text.write(to: path, atomically: true, encoding: .utf8)
    }
    let expected = try String(contentsOf: path, encoding: .utf8)
    let lines = { (text: String) in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
    for change in lines(text).difference(from: lines(expected)) {
      Issue.record("\(file) is not what is told (UPDATE_DOCUMENTS=yes writes it): \(change)")
    }
  }
}
