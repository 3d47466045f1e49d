import Beans
import BeansXML
import Foundation
import Testing

/// Documents with the constructs of projects that use Spring: each loads, or is refused with its unsupported constructs.
@Suite struct SpringDocumentTests {
  static let documents = SpringDocument.databases + SpringDocument.services + SpringDocument.web

  private func start(_ document: SpringDocument) throws -> Environment {
    let environment = try Environment(name: "spring")
    try environment.addConfigurationSource(
      ProcessInfoConfigurationSource(variables: ["jdbc.url": "db://example.org", "jdbc.user": "shop"]))
    try environment.define(
      environment.bean(Sample.Endpoint.self, id: "endpoint", abstract: true) { (address: String, port: Int) in
        Sample.Endpoint(address: address, port: port)
      })
    return try environment.loadXML(
      Data(document.text.utf8), source: "application.xml", handlers: [], placeholders: .spring
    ).startup()
  }

  @Test(arguments: documents)
  func aDocumentLoadsOrIsRefused(_ document: SpringDocument) throws {
    switch document.result {
    case .loads(let count):
      let beans = try start(document).getBeansByType((any SampleBean).self)
      #expect(beans.count == count)
    case .refused(let messages):
      let error = try #require(throws: EnvironmentError.self) { try start(document) }
      let faults = error.underlying.isEmpty ? [error] : error.underlying.compactMap { $0 as? EnvironmentError }
      #expect(faults.count == messages.count, "\(faults)")
      for (fault, message) in zip(faults, messages) { #expect(fault.message.contains(message), "\(fault)") }
      #expect(faults.allSatisfy { $0.origin?.file == "application.xml" && $0.origin?.line != nil })
    }
  }

  @Test func thereAreDocumentsOfBothKinds() {
    let loaded = Self.documents.filter { if case .loads = $0.result { true } else { false } }
    #expect(Self.documents.count >= 40 && loaded.count >= 18)
    #expect(Set(Self.documents.map(\.name)).count == Self.documents.count)
  }
}
