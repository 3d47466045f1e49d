import Beans
import BeansXML
import Dispatch
import Foundation
import Synchronization
import Testing

/// The articles of the documentation, and the files that compile their listings.
private struct Article {
  let text: String
  private let listings: String

  init(_ name: String, listings: String) throws {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let package = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let catalog = package.appendingPathComponent("Sources/Beans/Beans.docc")
    text = try String(contentsOf: catalog.appendingPathComponent("\(name).md"), encoding: .utf8)
    self.listings = try String(contentsOf: here.appendingPathComponent("\(listings).swift"), encoding: .utf8)
  }

  /// What stands between fences of that language.
  func blocks(_ language: String) -> [String] {
    text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
      $0.components(separatedBy: "```\n").first
    }
  }

  /// What stands between the markers, without their indentation.
  var compiled: [String] {
    var listings: [String] = []
    var indentation: String?
    for line in self.listings.components(separatedBy: "\n") {
      let word = line.drop { $0 == " " }
      switch (word, indentation) {
      case ("// listing", _):
        indentation = String(repeating: " ", count: line.count - word.count)
        listings.append("")
      case ("// end", _): indentation = nil
      case (_, let indentation?):
        listings[listings.count - 1] += line.dropFirst(line.isEmpty ? 0 : indentation.count) + "\n"
      default: break
      }
    }
    return listings
  }
}

@Suite("The articles of the documentation") struct GuideTests {
  private static func xmlAndConfiguration() throws -> Article {
    try Article("XMLAndConfiguration", listings: "XMLAndConfigurationListings")
  }

  /// A folder with the article's files.
  private func withFiles(_ body: (_ document: String, _ settings: String) throws -> Void) throws {
    let article = try Self.xmlAndConfiguration()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let document = folder.appendingPathComponent("post.xml")
    let settings = folder.appendingPathComponent("post.json")
    try #require(article.blocks("xml").first).write(to: document, atomically: true, encoding: .utf8)
    try #require(article.blocks("json").first).write(to: settings, atomically: true, encoding: .utf8)
    try body(document.path, settings.path)
  }

  @Test(
    "Each listing is one that is compiled here, to the letter",
    arguments: [
      ("XMLAndConfiguration", "XMLAndConfigurationListings"), ("ComingFromInject", "ComingFromInjectListings"),
    ])
  func listings(article: String, file: String) throws {
    let article = try Article(article, listings: file)
    #expect(article.blocks("swift").count >= 4)
    #expect(article.blocks("swift") == article.compiled)
  }

  @Test("XML and configuration: the document takes its values from the files, then from the variables")
  func openingPost() throws {
    try withFiles { document, settings in
      let post = try openPost(document: document, settings: settings, variables: [:])
      let newsletter = try post.getBean(Post.Newsletter.self)
      #expect(newsletter.describe() == "office@example.org to staff, friends by smtp.example.org:2525")
      let other = try openPost(
        document: document, settings: settings, variables: ["post:mail.port": "587", "post:sender": "me"])
      #expect(
        try other.getBean(Post.Newsletter.self).describe() == "me to staff, friends by smtp.example.org:587")
    }
  }

  @Test("XML and configuration: the faults are those the article shows")
  func faults() throws {
    let article = try Self.xmlAndConfiguration()
    #expect(check(article.blocks("xml")[1]) + "\n" == article.blocks("text")[0])
    #expect(check("<beans/>") == "nothing is wrong")
  }

  @Test("XML and configuration: a class asks for its value, and a listener hears of the next one")
  func values() throws {
    let environment = try Environment()
    try environment.define(environment.bean(Throttle.self))
    #expect(try environment.getBean(Throttle.self).rate == 10)
    let heard = Mutex<[Int]>([])
    let listener = watch(environment) { rate in heard.withLock { $0.append(rate) } }
    try environment.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["post:rate": "20"]))
    listener.cancel()
    try environment.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["post:rate": "30"]))
    #expect(heard.withLock { $0 } == [20])
  }

  @Test("XML and configuration: elements of one's own")
  func ownElements() throws {
    let document = "<beans xmlns:s='urn:stamps'><s:sheet id='sheet' port='${port=26}'/></beans>"
    let environment = try Environment().loadXML(Data(document.utf8), source: "s.xml", handlers: [StampHandler()])
    #expect(try environment.getBean(Post.Mailer.self, byId: "sheet").port == 26)
    let faulty = "<beans xmlns:s='urn:stamps'><s:sheet id='sheet' prot='26'/></beans>"
    let error = #expect(throws: EnvironmentError.self) {
      try Environment().loadXML(Data(faulty.utf8), source: "s.xml", handlers: [StampHandler()])
    }
    #expect(error?.description.contains("'prot'") == true, "\(error as Any)")
  }

  @Test("Coming from inject: the first environment")
  func firstEnvironment() throws {
    #expect(try ComingFromInject().startFoo().number == 7)
  }

  @Test("Coming from inject: what stands for the concurrency classes")
  func concurrency() async throws {
    let counter = ComingFromInject.Counter()
    DispatchQueue.concurrentPerform(iterations: 100) { _ in _ = counter.next() }
    #expect(counter.next() == 101)
    #expect(try await ComingFromInject().later().value == "a for Ada, b for Ada")
    #expect(try await ComingFromInject().both() == "a for nobody, b for nobody")
    let (stream, continuation) = ComingFromInject().announce()
    continuation.yield(1)
    continuation.yield(2)
    continuation.finish()
    #expect(await stream.reduce(0, +) == 3)
    #expect(ComingFromInject().limit(DispatchSemaphore(value: 1)) { 5 } == 5)
  }
}
