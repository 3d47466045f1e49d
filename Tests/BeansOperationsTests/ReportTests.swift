import Beans
import BeansLogging
import BeansOperations
import BeansServer
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct ReportTests {
  private func post(_ operations: Operations, _ path: String, _ body: String) -> Int? {
    operations.respond(method: "POST", path: path, body: Array(body.utf8))?.status
  }

  @Test("Live environments are reported by scope, as JSON and as text")
  func environments() throws {
    let application = try Environment(name: "application")
    let requests = try application.childFactory("request", seed: Int.self)
    let operations = Operations(environment: try application.startup())
    let child = try requests.build(1)
    let answer = try operations.get("/environments")
    #expect(answer.contentType == "application/json")
    #expect(answer.headers.contains { $0.name == "Cache-Control" && $0.value == "no-store" })
    let scopes = try #require(try answer.json()["scopes"] as? [[String: Any]])
    let request = try #require(scopes.first { $0["scope"] as? String == "request" })
    #expect(request["open"] as? Int == 1)
    #expect(request["opened"] as? Int == 1)
    let text = try operations.get("/environments", accept: "text/plain")
    #expect(text.contentType == "text/plain; charset=utf-8")
    #expect(text.text.contains("request: 1 live, 0 beans\n"))
    child.finish()
  }

  @Test("Ages and idle times of environments that a loop ends are reported by scope")
  func ages() throws {
    try withLoops { loops in
      let loop = loops[0]
      let application = try Environment(name: "application")
      let sessions = try application.childFactory(
        "session", seed: Int.self, scope: { SessionScope(loop: loop, idleTimeout: .seconds(600)) })
      let requests = try sessions.childFactory("request", seed: Int.self)
      let operations = Operations(environment: try application.startup())
      func scope(_ name: String) throws -> [String: Any] {
        let scopes = try #require(try operations.get("/environments").json()["scopes"] as? [[String: Any]])
        return try #require(scopes.first { $0["scope"] as? String == name })
      }
      let session = try sessions.build(1)
      #expect(try scope("session")["longestIdleSeconds"] is Double)
      try waitUntil("a session of a tenth of a second") {
        (try? scope("session")["oldestSeconds"] as? Double ?? 0) ?? 0 > 0
      }
      #expect(try scope("application")["oldestSeconds"] is Double == false)
      let request = try requests.build(1, in: session)
      #expect(try scope("session")["longestIdleSeconds"] is Double == false)
      // A scope that no loop ends has no measured age.
      #expect(try scope("request")["oldestSeconds"] is Double == false)
      request.finish()
      #expect(try scope("session")["longestIdleSeconds"] is Double)
      try application.shutdown()
    }
  }

  // MARK: beans

  @Test("Declarations are reported by environment: scope, type, place, aliases, and dependencies")
  func beans() throws {
    final class Store: Sendable {}
    final class Index: Sendable { init(store: Store) {} }
    final class Handler { init(index: Index, number: Int) {} }
    let application = try Environment(name: "application")
    try application
      .define(application.bean(Store.self, id: "store", factory: { Store() }))
      .alias("archive", of: "store")
      .define(application.bean(Index.self, factory: Index.init).lazy())
    _ = try application.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Handler.self, factory: Handler.init))
    }
    let operations = Operations(environment: application)
    #expect(try operations.get("/beans").status == 503)
    try application.startup()
    let report = try operations.get("/beans").json()
    let contexts = try #require(report["contexts"] as? [String: [String: Any]])
    #expect(Set(contexts.keys) == ["application", "application/request"])
    #expect(contexts["application"]?["parentId"] is String == false)
    #expect(contexts["application/request"]?["parentId"] as? String == "application")
    let own = try #require(contexts["application"]?["beans"] as? [String: [String: Any]])
    let store = try #require(own["Store 'store'"])
    #expect(store["aliases"] as? [String] == ["archive"])
    #expect(store["scope"] as? String == "singleton")
    #expect((store["type"] as? String)?.hasSuffix("Store") == true)
    #expect((store["resource"] as? String)?.contains("ReportTests.swift:") == true)
    #expect(store["dependencies"] as? [String] == [])
    #expect(own["Index"]?["dependencies"] as? [String] == ["Store 'store'"])
    #expect(own["Index"]?["flags"] as? [String] == ["lazy"])
    let inner = try #require(contexts["application/request"]?["beans"] as? [String: [String: Any]])
    #expect(inner["Handler"]?["dependencies"] as? [String] == ["Index", "Int"])
    // Values known before the shutdown stay known.
    try application.shutdown()
    #expect(try operations.get("/beans").status == 200)
  }

  // MARK: startup

  @Test("The startup is reported bean by bean, or as empty if times are not recorded")
  func startup() throws {
    let application = try Environment(name: "application")
    try application
      .define(application.bean(Int.self, factory: { 1 }).lazy())
      .define(application.bean(String.self, factory: { (number: Int) in "\(number)" }))
      .startup(options: [.recordTimes])
    let report = try Operations(environment: application).get("/startup").json()
    let beans = try #require(report["beans"] as? [[String: Any]])
    #expect(beans.map { $0["bean"] as? String } == ["Int", "String"])
    #expect(beans.map { $0["parent"] as? String } == ["String", nil])
    #expect(beans.map { $0["order"] as? Int } == [1, 2])
    #expect(beans.allSatisfy { $0["micros"] is Int })
    #expect((beans[0]["resource"] as? String)?.contains("ReportTests.swift:") == true)
    #expect(report["micros"] is Int)
    let other = try Environment(name: "other")
    try other.define(other.bean(7)).startup()
    let nothing = try Operations(environment: other).get("/startup").text
    #expect(nothing == #"{"environment":"other","micros":null,"beans":[]}"#)
  }

  // MARK: configuration

  @Test("The configuration shows keys and sources, and never a value")
  func noValueOfTheConfigurationIsShown() throws {
    let application = try Environment(name: "application")
    try application.define(
      application.settings().setValue(namespace: "mail", key: "password", value: "hunter2").setValue(
        key: "port", value: 8_080_123))
    try application.addConfigurationSource(
      ProcessInfoConfigurationSource(variables: ["mail:password": "hunter3", "user": "ada the secret"]))
    defer { application.finish() }
    let shop = try Environment(name: "shop", parent: application)
    try shop.define(shop.settings().setValue(key: "port", value: 9_090_456)).startup()
    let answer = try Operations(environment: shop).get("/configuration")
    for secret in ["hunter2", "hunter3", "8080123", "9090456", "ada the secret"] {
      #expect(!answer.text.contains(secret))
    }
    // Without keys that were read but that no source has, such as that of the active profiles.
    let values = try #require(try answer.json()["values"] as? [[String: Any]]).filter { $0["source"] is String }
    #expect(values.map { $0["key"] as? String } == ["mail:password", "mail:password", "port", "port", "user"])
    let passwords = values.prefix(2)
    #expect(Set(passwords.map { $0["overruled"] as? Bool }) == [true, false])
    #expect(values[2]["inherited"] as? Bool == false)
    #expect((values[2]["source"] as? String)?.contains("ReportTests.swift:") == true)
    #expect(values[3]["inherited"] as? Bool == true)
    #expect(values[3]["overruled"] as? Bool == true)
  }

  @Test("The configuration names the sources that a value overrules, and keys that were read but that no source has")
  func theConfigurationNamesWhatAValueOverrulesAndWhatWasRead() throws {
    let application = try Environment(name: "application")
    let line = #line + 1
    try application.define(application.settings().setValue(key: "PORT", value: 80).setValue(key: "HOST", value: "::"))
    try application.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["PORT": "81"]))
    try application.addConfigurationSource(CommandLineConfigurationSource(arguments: ["--PORT=82"]))
    try application.startup()
    #expect(try application.getConfigurationValue(Int.self, key: "PORT") == 82)
    #expect(try application.getConfigurationValue(Int.self, namespace: "mail", key: "limit", defaultValue: 7) == 7)
    #expect(try application.getConfigurationValue(String?.self, key: "relay") == nil)
    let values = try #require(
      try Operations(environment: application).get("/configuration").json()["values"] as? [[String: Any]])
    func entries(_ key: String) -> [[String: Any]] { values.filter { $0["key"] as? String == key } }
    let settings = "\(#fileID):\(line)"
    let ports = entries("PORT")
    #expect(ports.map { $0["source"] as? String } == ["command line", "environment variables", settings])
    #expect(ports.map { $0["overrules"] as? [String] } == [["environment variables", settings], [settings], []])
    #expect(ports.map { $0["overruledBy"] as? String } == [nil, "command line", "command line"])
    #expect(ports.map { $0["overruled"] as? Bool } == [false, true, true])
    #expect(entries("HOST").map { $0["source"] as? String } == [settings])
    for key in ["mail:limit", "relay"] {
      let entry = try #require(entries(key).first)
      #expect(entry["source"] is NSNull)
      #expect(entries(key).count == 1)
    }
    // A source that brings the key later replaces the note that no source has it.
    try application.addConfigurationSource(CommandLineConfigurationSource(arguments: ["--mail:limit=9"]))
    let later = try Operations(environment: application).get("/configuration").text
    #expect(later.contains(#""key":"mail:limit","scope":"","source":"command line""#))
    #expect(later.components(separatedBy: "mail:limit").count == 2)
  }

  @Test("The configuration names the variable of a key, the values that it overrules, and keys that share it")
  func theConfigurationNamesSpellings() throws {
    let application = try Environment(name: "application")
    let line = #line + 1
    try application.define(application.settings().setValue(key: "server.port", value: 80))
    try application.addConfigurationSource(
      ProcessInfoConfigurationSource(variables: ["SERVER_PORT": "8123", "MAIL_PASSWORD": "hunter2"]))
    try application.startup()
    #expect(try application.getConfigurationValue(Int.self, key: "server.port") == 8123)
    #expect(try application.getConfigurationValue(Int.self, namespace: "server", key: "port") == 8123)
    _ = try application.getConfigurationValue(String.self, key: "mail.password")
    let answer = try Operations(environment: application).get("/configuration")
    let values = try #require(try answer.json()["values"] as? [[String: Any]])
    func entries(_ key: String) -> [[String: Any]] { values.filter { $0["key"] as? String == key } }
    let port = entries("server.port")
    #expect(port.map { $0["name"] as? String } == ["SERVER_PORT", nil])
    #expect(port.map { $0["source"] as? String } == ["environment variables", "\(#fileID):\(line)"])
    #expect(port.first?["overrules"] as? [String] == ["\(#fileID):\(line)"])
    #expect(port.last?["overruledBy"] as? String == "environment variables (SERVER_PORT)")
    #expect(entries("server:port").map { $0["name"] as? String } == ["SERVER_PORT"])
    #expect(entries("SERVER_PORT").first?["readAs"] as? [String] == ["server.port", "server:port"])
    #expect(!answer.text.contains("hunter2") && !answer.text.contains("8123"))
    #expect(!application.configurationManager.report().contains("hunter2"))
  }

  // MARK: loggers

  @Test("Loggers are shown with their levels; setting one needs permission")
  func readingLevels() throws {
    let logs = KeptLog(name: "kept").manager().registerLogger("shop.orders", level: .error)
    _ = logs.getLogger(forName: "shop.orders.mail")
    var options = OperationsOptions()
    options.logs = logs
    let operations = Operations(environment: try Environment().startup(), options: options)
    let report = try operations.get("/loggers").json()
    #expect(report["levels"] as? [String] == ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "ALL"])
    let loggers = try #require(report["loggers"] as? [String: [String: Any]])
    #expect(loggers["ROOT"]?["effectiveLevel"] as? String == "INFO")
    #expect(loggers["shop.orders"]?["configuredLevel"] as? String == "ERROR")
    #expect(loggers["shop.orders.mail"]?["configuredLevel"] is String == false)
    #expect(loggers["shop.orders.mail"]?["effectiveLevel"] as? String == "ERROR")
    #expect(post(operations, "/loggers/shop.orders", #"{"configuredLevel":"DEBUG"}"#) == 403)
    #expect(logs.getLogger(forName: "shop.orders").level == .error)
  }

  @Test("One logger is shown alone, as JSON and as text")
  func oneLogger() throws {
    let logs = KeptLog(name: "kept").manager().registerLogger("shop.orders", level: .error)
    _ = logs.getLogger(forName: "shop.orders.mail")
    var options = OperationsOptions()
    options.logs = logs
    let operations = Operations(environment: try Environment().startup(), options: options)
    func text(_ path: String, _ accept: String? = nil) throws -> String {
      let answer = try operations.get(path, accept: accept)
      #expect(answer.status == 200, "\(path)")
      return answer.text
    }
    #expect(try text("/loggers/shop.orders") == #"{"configuredLevel":"ERROR","effectiveLevel":"ERROR"}"#)
    #expect(try text("/loggers/shop.orders.mail") == #"{"configuredLevel":null,"effectiveLevel":"ERROR"}"#)
    #expect(try text("/loggers/ROOT") == #"{"configuredLevel":"INFO","effectiveLevel":"INFO"}"#)
    // A path between loggers has a level, too: a POST can set it.
    #expect(try text("/loggers/shop") == #"{"configuredLevel":null,"effectiveLevel":"INFO"}"#)
    #expect(try text("/loggers/shop.orders.mail", "text/plain") == "shop.orders.mail: ERROR (inherited)\n")
    #expect(
      try text("/loggers", "text/plain")
        == "ROOT: INFO\nshop.orders: ERROR\nshop.orders.mail: ERROR (inherited)\n")
    #expect(try operations.get("/loggers/nobody").status == 404)
    #expect(operations.respond(method: "HEAD", path: "/loggers/shop")?.status == 200)
    let refused = try #require(operations.respond(method: "DELETE", path: "/loggers/shop"))
    #expect(refused.status == 405)
    #expect(refused.headers.contains { $0.name == "Allow" && $0.value == "GET, HEAD, POST" })
  }

  @Test("A level is set for a logger and its descendants, and reset")
  func settingLevels() throws {
    let log = KeptLog(name: "kept")
    let logs = log.manager().registerLogger("shop.orders", level: .error)
    let (orders, mail, cart) = (
      logs.getLogger(forName: "shop.orders"), logs.getLogger(forName: "shop.orders.mail"),
      logs.getLogger(forName: "shop.cart")
    )
    var options = OperationsOptions()
    options.logs = logs
    options.maySetLevels = true
    let operations = Operations(environment: try Environment().startup(), options: options)
    #expect(post(operations, "/loggers/shop.orders", #"{"configuredLevel":"DEBUG"}"#) == 204)
    #expect([orders.level, mail.level, cart.level] == [.debug, .debug, .info])
    mail.debug("sent")
    #expect(log.journal.entries.last == "DEBUG sent")
    // The path has no registered logger.
    #expect(post(operations, "/loggers/shop", " { \"configuredLevel\" : \"warn\" } ") == 204)
    #expect([orders.level, cart.level] == [.debug, .warn])
    #expect(post(operations, "/loggers/shop.orders", "{}") == 204)
    #expect(post(operations, "/loggers/shop", #"{"configuredLevel":null}"#) == 204)
    #expect([orders.level, mail.level, cart.level] == [.error, .error, .info])
    #expect(post(operations, "/loggers/ROOT", #"{"configuredLevel":"ERROR"}"#) == 204)
    #expect(cart.level == .error)
  }

  @Test(
    "Invalid levels, loggers and JSON are refused",
    arguments: [
      ("/loggers/shop", #"{"configuredLevel":"LOUD"}"#, 400), ("/loggers/shop", "DEBUG", 400),
      ("/loggers/shop", "", 400),
      ("/loggers/shop", #"{"configuredLevel":"DEBUG","x":1}"#, 400), ("/loggers/", #"{"configuredLevel":"OFF"}"#, 404),
      ("/loggers/nobody", #"{"configuredLevel":"OFF"}"#, 404), ("/loggers/sho", #"{"configuredLevel":"OFF"}"#, 404),
    ])
  func refusedLevels(path: String, body: String, status: Int) throws {
    let logs = KeptLog(name: "kept").manager().registerLogger("shop", level: .info)
    var options = OperationsOptions()
    options.logs = logs
    options.maySetLevels = true
    let operations = Operations(environment: try Environment().startup(), options: options)
    let levels = logs.levels()
    #expect(post(operations, path, body) == status)
    #expect(logs.levels() == levels)
    #expect(operations.respond(method: "GET", path: path)?.status == (status == 404 ? 404 : 200))
  }
}
