import Beans
import BeansEventLoop
import BeansLogging
import BeansOperations
import BeansRunning
import BeansServer
import BeansSessions
import BeansXML
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("The articles of the documentation") struct GuideTests {
  private static func xml() throws -> Article { try Article("XML", of: "BeansXML", listings: "XMLListings") }

  /// A folder with the article's files.
  private func withFiles(_ body: (_ document: String, _ settings: String) throws -> Void) throws {
    let article = try Self.xml()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let document = folder.appendingPathComponent("post.xml")
    let settings = folder.appendingPathComponent("post.json")
    try #require(article.blocks("xml").first).write(to: document, atomically: true, encoding: .utf8)
    try #require(article.blocks("json").first).write(to: settings, atomically: true, encoding: .utf8)
    try body(document.path, settings.path)
  }

  @Test("XML: the document takes its values from the files, then from the variables")
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

  @Test("XML: the faults are those the article shows")
  func faults() throws {
    let article = try Self.xml()
    #expect(check(article.blocks("xml")[2]) + "\n" == article.blocks("text")[0])
    #expect(check("<beans/>") == "nothing is wrong")
  }

  @Test(
    "XML: the profiles of a document say which beans and modules count",
    arguments: [("production", "smtp.example.org", 95), ("staging", "localhost", 95), ("test", "localhost", nil)])
  func profilesAndModules(profile: String, host: String, rate: Int?) throws {
    let document = try Self.xml().blocks("xml")[1]
    let prefixed = document.replacing(/<(\/?)(beans|bean|module|property)\b/) { "<\($0.output.1)beans:\($0.output.2)" }
      .replacing("<beans:beans>", with: "<beans:beans xmlns:beans='\(Self.namespace)'>")
    for text in [document, prefixed] {
      let post = try Environment(name: "post")
      try post.define(post.settings().setValue(key: "beans.profiles", value: profile))
      try post.loadXML(Data(text.utf8), source: "post.xml")
      #expect(try post.getBean(Post.Mailer.self, byId: "mailer").host == host)
      #expect(try post.getBean(Franking?.self)?.rate == rate)
    }
  }

  private static let namespace = "http://www.springframework.org/schema/beans"

  @Test("XML: collections are converted, and only what is set by key path is observed")
  func collectionsAndObservers() throws {
    let post = try Environment(name: "post")
    try declareFranking(in: post)
    let franking = try post.getBean(Franking.self)
    #expect(franking.zones == [1, 2] && franking.prices == ["letter": 95, "parcel": 549])
    #expect(franking.rate == 3 && franking.changes == 1)
  }

  @Test("XML: elements of one's own")
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

  @Test("XML: a document becomes objects")
  func ownObjects() throws {
    let parcel = try readParcel(Data(Self.xml().blocks("xml")[3].utf8))
    #expect(parcel.receiver == "Ada")
    #expect(parcel.items.map(\.name) == ["book", "card"] && parcel.items.map(\.grams) == [250, 20])
    let error = #expect(throws: EnvironmentError.self) {
      try readParcel(Data("<parcel>\n<item gram='1'/></parcel>".utf8))
    }
    #expect(error?.origin == .init(file: "parcel.xml", line: 2, column: 7), "\(error as Any)")
  }

  @Test("Shutting down: a bean with a limit is released at the end")
  func timeToEnd() throws {
    let shop = try Environment(name: "shop")
    try ShuttingDown().declareGateway(in: shop)
    let gateway = try shop.getBean(ShuttingDown.Gateway.self)
    #expect(ShuttingDown().end(shop).isEmpty)
    #expect(gateway.isConnected == false)
  }

  @Test("Shutting down: a request commits, rolls back if it fails, and throws the failure of its commit")
  func unitOfWork() async throws {
    let guide = ShuttingDown()
    let shop = try Environment(name: "shop")
    let requests = try guide.declareRequests(in: shop)
    let database = try shop.getBean(ShuttingDown.Database.self)
    try await guide.order("tea", for: .init(name: "Ada"), requests)
    await #expect(throws: ShuttingDown.OutOfStock.self) {
      try await guide.order("sold out", for: .init(name: "Ada"), requests)
    }
    let failed = await #expect(throws: EnvironmentError.self) {
      try await guide.order("too much", for: .init(name: "Ada"), requests)
    }
    #expect(failed?.code == .destructionFailed && failed?.description.contains("Full") == true)
    #expect(database.steps.withLock { $0 } == ["tea for Ada", "rolled back"])
    try await shop.shutdown()
  }

  @Test("Operations: strangers are answered the probes, operators everything")
  func operations() async throws {
    let guide = OperationsGuide()
    let thread = try EventLoopThread(name: "operations")
    let shop = try Environment(name: "shop")
    try shop
      .define(shop.bean(OperationsGuide.Store.self, factory: { .init() }))
      .define(shop.bean(OperationsGuide.StoreCheck.self, factory: OperationsGuide.StoreCheck.init))
    let factory = try shop.childFactory(
      "session", seed: Void.self, scope: { SessionScope(loop: thread.loop, idleTimeout: .seconds(60)) })
    let operations = guide.makeOperations(shop, Sessions(factory), on: thread.loop)
    #expect(guide.answerStrangers(.init(path: "/readyz"), operations)?.status == 503)
    try await guide.start(shop, operations)
    while guide.answerStrangers(.init(path: "/readyz"), operations)?.status != 200 {
      // A probe is asked again and again, and tells nobody when its answer changes.
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(guide.answerStrangers(.init(path: "/metrics"), operations) == nil)
    let metrics = try #require(guide.answerOperators(.init(path: "/metrics"), operations))
    #expect(metrics.fields.contains { $0 == "Content-Type" && $1.hasPrefix("text/plain") })
    #expect(String(decoding: metrics.body, as: UTF8.self).contains("\nbeans_health_check_up{check=\"store\"} 1\n"))
    operations.stop()
    try await shop.shutdown()
    try thread.stopAndJoin()
  }

  @Test("Shutting down: a request ends when its response has been written, or has been dropped")
  func laterEnd() async throws {
    let shop = try Environment(name: "shop")
    let outcomes = Mutex<[String]>([])
    let requests = try shop.childFactory("request", seed: ShuttingDown.Visitor.self) {
      try $0.define(ShuttingDown.Greeter.self, factory: ShuttingDown.Greeter.init) {
        $0.onDestroy { _, outcome in outcomes.withLock { $0.append("\(outcome)") } }
      }
    }
    let written = Mutex<[String]>([])
    let response = try await ShuttingDown().respond(to: .init(name: "Ada"), requests)
    #expect(outcomes.withLock { $0.isEmpty })
    try await response.body { line in written.withLock { $0.append(line) } }
    #expect(written.withLock { $0 } == ["Hello, Ada!"])
    #expect(outcomes.withLock { $0 } == ["completed"])
    _ = try await ShuttingDown().respond(to: .init(name: "Grace"), requests)
    #expect(outcomes.withLock { $0 }.last?.hasPrefix("failed(finished: ") == true)
    #expect(outcomes.withLock { $0 }.last?.contains("was dropped") == true)
    try await shop.shutdown()
  }

  @Test("Run a service: the program commits an order, rolls the next one back, and ends when it is stopped")
  func completeProgram() async throws {
    let shop = try Environment(name: "shop")
    try shop.define(shop.settings().setValue(key: "pool.host", value: "localhost").setValue(key: "pool.size", value: 4))
    let metrics = try ScopesOfYourOwn().observeChildren(of: shop)
    try CompleteProgram.Service.declare(in: shop)
    async let served: Void = shop.run()
    while metrics.current.failed == 0 { await Task.yield() }
    shop.stop()
    try await served
    #expect(metrics.current.beans > metrics.current.failed && metrics.current.open == 0)
  }

  @Test("Run a service: a consumer works until the end, and prices are reloaded on time")
  func running() async throws {
    let shop = try Environment(name: "shop")
    let listings = Running()
    try listings.declareConsumer(in: shop)
    // No limit: other tests block the threads of the pool for longer than ten seconds.
    async let served: Void = shop.run()
    let (queue, shipments) = try await (
      shop.getBean(awaiting: Running.Queue.self), shop.getBean(awaiting: Running.Shipments.self)
    )
    queue.append(7)
    while shipments.all.isEmpty { await Task.yield() }
    shop.stop()
    try await served
    #expect(shipments.all == [7])
    #expect(try await listings.reloadsOnTime() == 1)
  }

  @Test("Shutting down: a bean is released before what it was built from, and what failed is told")
  func failingRelease() throws {
    let shop = try Environment(name: "shop")
    let listings = ShuttingDown()
    try listings.declareQueue(in: shop)
    let queue = try shop.getBean(ShuttingDown.Queue.self)
    let failures = listings.end(shop)
    #expect(queue.wasOpen.withLock { $0 } == true && !queue.connection.isOpen)
    #expect(failures.count == 1 && failures[0].contains("Queue") && failures[0].contains("Unreachable"))
    #expect(listings.end(shop).isEmpty)
  }

  @Test("Coming from Spring: what the listings declare")
  func spring() throws {
    let shop = try Environment(name: "shop")
    try shop.define(shop.settings().setValue(key: "beans.profiles", value: "production"))
    try ComingFromSpring().declareShop(in: shop)
    let requests = try ComingFromSpring().declareAudit(in: shop)
    let database = try shop.getBean(ComingFromSpring.Orders.self, byId: "orders").database
    let audit = try shop.getBean(ComingFromSpring.Audit.self)
    #expect(try requests.withChild(.init(name: "Ada")) { _ throws in try audit.line() } == "Ada")
    try shop.shutdown()
    #expect(database.isClosed)
  }

  @Test("Coming from .NET: what the listings declare")
  func dotNET() throws {
    let shop = try Environment(name: "shop")
    defer { try? shop.shutdown() }
    let requests = try ComingFromDotNET().declareShop(in: shop)
    for _ in 1...2 { try ComingFromDotNET().placeOrder(requests) }
    #expect(try shop.getBean(ComingFromDotNET.Database.self).orders.withLock { $0 } == 2)
  }

  @Test("Coming from Swinject: what the listings declare")
  func swinject() throws {
    #expect(try ComingFromSwinject().findOwner().pet.name == "Mimi")
    let environment = try Environment(name: "family")
    defer { try? environment.shutdown() }
    try ComingFromSwinject().declareFamily(in: environment)
    let mother = try environment.getBean(ComingFromSwinject.Mother.self)
    #expect(try mother.child.askMother() === mother)
  }

  @Test("Logging: what is below a path's level is not written")
  func loggingPage() {
    let lines = Mutex<[String]>([])
    let terminal = Terminal { line in lines.withLock { $0.append(line) } }
    let manager = LoggingCatalogue().configureLogging(to: terminal)
    LoggingCatalogue().report(3, by: manager)
    manager.getLogger(forName: "Other").info("is not written")
    manager.flush()
    #expect(lines.withLock { $0 } == ["3 orders"])
  }

  @Test("Logging: an entry goes to a file as a line and as an object")
  func loggingFiles() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let guide = LoggingGuide()
    let manager = try guide.installLogs(in: folder.path)
    guide.place(.init(), manager.getLogger(forName: "Shop.Orders"))
    manager.flush()
    try FileManager.default.removeItem(at: folder)
    guide.hangUp(manager)
    manager.getLogger(forName: "Shop.Orders").info("again\nforged")
    manager.flush()
    func lines(_ name: String) throws -> [Substring] {
      try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8).split(separator: "\n")
    }
    let line = try #require(try lines("shop.log").first)
    #expect(try lines("shop.log").count == 1 && line.hasSuffix(#" [Shop.Orders] INFO - again\nforged"#), "\(line)")
    let object = try JSONSerialization.jsonObject(with: Data(try lines("shop-objects.log").joined().utf8))
    #expect((object as? [String: Any])?["message"] as? String == "again\nforged")
  }

  @Test("Logging: calls and tasks have metadata, and a formatter of one's own writes it")
  func loggingMetadata() {
    let lines = Mutex<[String]>([])
    let terminal = Terminal { line in lines.withLock { $0.append(line) } }
    let manager = LogManager(installing: false).registerLogger("", level: .info, logs: [terminal])
    LoggingGuide().place(.init(), manager.getLogger(forName: "Shop"))
    #expect(lines.withLock { $0 } == ["101 items", "large"])
    let entry = LogEntry(logger: "", level: .error, message: "m", metadata: ["request": "17"])
    #expect(LoggingGuide.short.format(entry).hasSuffix(" <17> !m"))
  }

  @Test("Logging: each line of a request carries its id, also those of a release")
  func loggingRequests() throws {
    let lines = Mutex<[String]>([])
    let log = MetadataLog { line in lines.withLock { $0.append(line) } }
    LoggingGuide.manager.registerLogger("", level: .info, logs: [log])
    let shop = try Environment(name: "shop")
    let requests = try LoggingGuide().declareRequests(in: shop)
    try LoggingGuide().serve(.init(), requests)
    try shop.shutdown()
    #expect(
      lines.withLock { $0 } == ["begun request=17", "basket created request=17", "basket released request=17"])
  }

  @Test("Requests and sessions: a checkout is repeated, and settled by the next request, without a second order")
  func twoStores() async throws {
    let (guide, orders) = (TwoStores(), TwoStores.Orders())
    let shop = try Environment(name: "shop")
    let factory = try shop.childFactory("session", seed: SessionState.self) { session in
      try session.define(session.bean(TwoStores.Cart.self, factory: TwoStores.Cart.init))
    }
    let sessions = Sessions(factory, store: MemorySessionStore())
    await #expect(throws: TwoStores.ShopError.self) { try await guide.checkOut(nil, sessions, orders) }
    let filled = try await sessions.withSession(cookie: nil) { session in
      let cart = try session.environment.getBean(TwoStores.Cart.self)
      cart.add(2)
      return try #require(cart.prepareOrder("1"))
    }
    guard case .set(let cookie) = filled.cookie else {
      Issue.record("no cookie")
      return
    }
    // The process has ended after the commit.
    let placed = try await orders.place(filled.value)
    let (left, _) = try await guide.withCart(cookie, sessions, orders) { cart in cart.goods }
    #expect(left.isEmpty)
    _ = try await sessions.withSession(cookie: cookie) { session in
      try session.environment.getBean(TwoStores.Cart.self).add(3)
    }
    let response = try await guide.checkOut(cookie, sessions, orders)
    #expect(response.status == 201 && response.order != placed && response.cookie != nil)
    #expect(orders.count == 2)
    try await shop.shutdown()
  }

  @Test("Event loop: who connects is greeted")
  func eventLoopPage() throws {
    let heard = Mutex<[UInt8]>([])
    let loop = try EventLoop()
    let listener = try EventLoopCatalogue().greet(on: loop)
    try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { result in
      guard let connection = try? result.get() else { return loop.stop() }
      connection.onRead = { bytes in heard.withLock { $0 += Array(bytes) } }
      connection.onClose = { _ in loop.stop() }
      connection.resumeReading()
    }
    try loop.run()
    listener.close()
    try loop.close()
    #expect(String(decoding: heard.withLock { $0 }, as: UTF8.self) == "hello\n")
    try EventLoopCatalogue().serveGreetings { $0.stop() }
  }

  @Test("BeansInject: a property with a wrapper")
  func wrapper() throws {
    let page = BeansInjectPage()
    #expect(try type(of: page.newsletter().mailer) == BeansInjectPage.Mailer.self)
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

/// Hands over what is logged.
private final class Terminal: Log, @unchecked Sendable {  // nothing changes
  private let write: @Sendable (String) -> Void

  init(_ write: @escaping @Sendable (String) -> Void) {
    self.write = write
    super.init(name: "terminal")
  }

  override func log(_ entry: LogEntry) { write(entry.message) }
}

/// Hands over messages and metadata.
private final class MetadataLog: Log, @unchecked Sendable {  // nothing changes
  private let write: @Sendable (String) -> Void

  init(_ write: @escaping @Sendable (String) -> Void) {
    self.write = write
    super.init(name: "metadata", formatter: .message() + .metadata(prefix: " "))
  }

  override func log(_ entry: LogEntry) { write(format(entry)) }
}
