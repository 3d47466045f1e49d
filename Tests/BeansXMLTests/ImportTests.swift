import Beans
import BeansXML
import Foundation
import Testing

final class ImportedBean: Initializable {
}

@Suite struct ImportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func load(_ path: String) throws -> Environment { try Environment(name: "test").loadXML(path: path) }

  private func fault(_ path: String) throws -> EnvironmentError {
    try #require(throws: EnvironmentError.self) { try load(path) }
  }

  private func beans(_ content: String) -> String { "<beans>\(content)</beans>" }

  @Test func resourcesAreFoundBesideTheDocumentThatImportsThem() throws {
    let root = try folder.write(
      "app.xml", beans("<import resource='parts/one.xml'/><bean id='root' class='ImportedBean'/>"))
    try folder.write("parts/one.xml", beans("<import resource='../two.xml'/><bean id='one' class='ImportedBean'/>"))
    try folder.write("two.xml", beans("<bean id='two' class='ImportedBean'/>"))
    let environment = try load(root)
    for id in ["root", "one", "two"] { _ = try environment.getBean(ImportedBean.self, byId: id) }
    let report = environment.report()
    let places = ["\"two\"", "\"one\"", "\"root\""].compactMap { report.range(of: $0)?.lowerBound }
    #expect(places.count == 3 && places == places.sorted(), "in the order of the documents: \(report)")
  }

  @Test func absolutePathsAndFileURLsAreLocalFiles() throws {
    let path = try folder.write("a b.xml", beans("<bean id='a' class='ImportedBean'/>"))
    for resource in [path, URL(fileURLWithPath: path).absoluteString] {
      let environment = try Environment().loadXML(Data(beans("<import resource='\(resource)'/>").utf8))
      _ = try environment.getBean(ImportedBean.self, byId: "a")
    }
  }

  @Test func faultsNameTheirFile() throws {
    let root = try folder.write(
      "app.xml", beans("\n<unknown/><import resource='one.xml'/><import resource='two.xml'/>"))
    let one = try folder.write("one.xml", beans("\n\n<unknown/>"))
    let two = try folder.write("two.xml", "<beans>\n<bean>\n</beans>")
    let places = try fault(root).underlying.compactMap { ($0 as? EnvironmentError)?.origin }
    #expect(places.map(\.file) == [root, one, two] && places.map(\.line) == [2, 3, 3], "\(places)")
  }

  @Test func circlesAreFaults() throws {
    let root = try folder.write("a.xml", beans("<import resource='sub/../b.xml'/>"))
    try folder.write("b.xml", beans("<import resource='sub/c.xml'/>"))
    try folder.write("sub/c.xml", beans("\n <import resource='../a.xml'/>"))
    let fault = try fault(root)
    #expect(fault.message.contains("in a circle") && fault.message.contains(" → "), "\(fault)")
    #expect(fault.origin?.file.hasSuffix("sub/c.xml") == true && fault.origin?.line == 2 && fault.origin?.column == 10)
    let own = try folder.write("own.xml", beans("<import resource='own.xml'/>"))
    #expect(try self.fault(own).message.contains("in a circle"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.url.appendingPathComponent("link.xml").path, withDestinationPath: "linked.xml")
    let linked = try folder.write("linked.xml", beans("<import resource='link.xml'/>"))
    #expect(try self.fault(linked).message.contains("in a circle"))
  }

  @Test func aDocumentImportedByOthersIsReadOnce() throws {
    let root = try folder.write(
      "a.xml", beans("<import resource='b.xml'/><import resource='c.xml'/><import resource='d.xml'/>"))
    for name in ["b.xml", "c.xml"] { try folder.write(name, beans("<import resource='d.xml'/>")) }
    try folder.write("d.xml", beans("<bean id='d' class='ImportedBean'/>"))
    _ = try load(root).getBean(ImportedBean.self)
  }

  @Test func pipesAreNeverOpened() throws {
    let pipe = folder.url.appendingPathComponent("pipe.xml").path
    try #require(mkfifo(pipe, 0o600) == 0)
    #expect(try fault(pipe).message.contains("is not a file"))
    let link = folder.url.appendingPathComponent("link.xml").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: pipe)
    #expect(try fault(link).message.contains("is not a file"))
  }

  @Test func aResolverDecidesWhereDocumentsComeFrom() throws {
    let documents = [
      "db:b": "<beans><import resource='db:c'/></beans>", "db:c": "<beans><bean class='ImportedBean'/></beans>",
    ]
    var asked: [String] = []
    let environment = try Environment(name: "test")
    try environment.loadXML(Data("<beans><import resource='db:b'/></beans>".utf8), source: "db:a", handlers: []) {
      resource, source in
      asked.append("\(source) \(resource)")
      return XMLResource(data: Data((documents[resource] ?? "").utf8), source: resource)
    }
    #expect(asked == ["db:a db:b", "db:b db:c"])
    _ = try environment.getBean(ImportedBean.self)
  }

  @Test func aResolverThatFindsDocumentsForEverIsStopped() throws {
    var count = 0
    let fault = #expect(throws: EnvironmentError.self) {
      try Environment().loadXML(Data("<beans><import resource='0'/></beans>".utf8), source: "root", handlers: []) {
        _, _ in
        count += 1
        return XMLResource(data: Data("<beans><import resource='\(count)'/></beans>".utf8), source: "\(count)")
      }
    }
    #expect(fault?.code == .invalidXML && count < 1000, "\(String(describing: fault))")
  }

  @Test func anErrorOfAResolverIsAFaultOfTheImport() throws {
    struct Refused: Error {}
    let fault = #expect(throws: EnvironmentError.self) {
      try Environment().loadXML(Data("<beans>\n<import resource='x'/></beans>".utf8), handlers: []) { _, _ in
        throw Refused()
      }
    }
    #expect(fault?.origin?.line == 2 && fault?.underlying.first is Refused)
  }

  /// C would read the path up to the NUL, and find another file.
  @Test func aPathWithANulIsNoFile() throws {
    let path = try folder.write("a.xml", beans(""))
    let fault = #expect(throws: EnvironmentError.self) { try XMLResource.localFile("a.xml\0b", importedBy: path) }
    #expect(fault?.code == .invalidXML)
    #expect(fault?.message.contains("contains a NUL") == true)
  }
}
