import BeansErrors
import TestSupport
import Testing

@testable import BeansConfiguration

@Suite struct KeySpellingTests {
  private let manager = ConfigurationManager()

  private func variables(_ variables: [String: String], prefix: String = "") throws {
    try manager.addSource(ProcessInfoConfigurationSource(variables: variables, prefix: prefix))
  }

  // MARK: environment variables

  @Test(arguments: [
    ("", "server.port", "SERVER_PORT"), ("post", "mail.port", "POST_MAIL_PORT"),
    ("", "post.mail.port", "POST_MAIL_PORT"),
    ("", "my.list.0", "MY_LIST_0"), ("", "my.list[0]", "MY_LIST_0"), ("", "mailServer.maxSize", "MAIL_SERVER_MAX_SIZE"),
    ("", "mailServer.maxSize", "MAILSERVER_MAXSIZE"), ("", "my.main-project", "MY_MAIN_PROJECT"),
    ("", "my.main-project", "MY_MAINPROJECT"), ("", "HTTPServer.ipv4Address", "HTTP_SERVER_IPV4_ADDRESS"),
    ("", "port", "PORT"), ("", "1st.try", "_1ST_TRY"), ("", "größe", "GR_E"), ("a.b", "c", "A_B_C"),
  ])
  func aLegalVariableNameMatchesItsKey(namespace: String, key: String, variable: String) throws {
    try variables([variable: "80"])
    #expect(try manager.getValue(Int.self, namespace: namespace, key: key) == 80)
    #expect(manager.hasValue(namespace: namespace, key: key))
  }

  @Test func theExactNameComesFirst() throws {
    try variables(["server.port": "1", "SERVER_PORT": "2", "mail:port": "3", "MAIL_PORT": "4"])
    #expect(try manager.getValue(Int.self, key: "server.port") == 1)
    #expect(try manager.getValue(Int.self, key: "SERVER_PORT") == 2)
    #expect(try manager.getValue(Int.self, namespace: "mail", key: "port") == 3)
    #expect(try manager.getValue(Int.self, key: "mail.port") == 4)
  }

  @Test func similarVariableNamesDoNotMatch() throws {
    try variables(["server_port": "1", "SERVERPORT": "2", "XSERVER_PORT": "3", "SERVER_PORT_X": "4"])
    #expect(!manager.hasValue(key: "server.port"))
  }

  @Test func aPrefixSelectsVariables() throws {
    try variables(
      ["SHOP_SERVER_PORT": "1", "SERVER_HOST": "h", "SHOP": "x", "SHOP_": "y", "SHOPPING": "z"], prefix: "SHOP")
    #expect(try manager.getValue(Int.self, key: "server.port") == 1)
    #expect(try manager.getValue(Int.self, key: "SHOP_SERVER_PORT") == 1)
    #expect(!manager.hasValue(key: "server.host"))
    #expect(!manager.hasValue(key: "SERVER_HOST"))
    #expect(!manager.report().contains("SHOPPING"))
  }

  @Test func thePrecedenceOfSourcesStays() throws {
    try manager.addSource(FixedSource("file", ["server.port": 1]))
    try variables(["SERVER_PORT": "2"])
    #expect(try manager.getValue(Int.self, key: "server.port") == 2)
    try manager.addSource(FixedSource("later", canOverrule: true, ["server.port": 3]))
    #expect(try manager.getValue(Int.self, key: "server.port") == 3)
    let child = ConfigurationManager(parent: manager)
    #expect(try child.getValue(Int.self, key: "server.port") == 3)
    try child.addSource(ProcessInfoConfigurationSource(variables: ["SERVER_PORT": "4"]))
    #expect(try child.getValue(Int.self, key: "server.port") == 4)
  }

  @Test func aSourceThatCannotOverruleLeavesTheVariableInForce() throws {
    try variables(["SERVER_PORT": "2"])
    try manager.addSource(FixedSource("settings", ["server.port": 1]))
    #expect(try manager.getValue(Int.self, key: "server.port") == 2)
    #expect(
      manager.report() == """
        ### CONFIGURATION REPORT
        - environment variables, can overrule
            SERVER_PORT = '2' read as: server.port
        - settings
            server.port = '1' overruled by: environment variables (SERVER_PORT)

        """)
  }

  @Test func twoKeysThatShareASpellingAreBothServed() throws {
    try variables(["POST_MAIL_PORT": "25"])
    #expect(try manager.getValue(Int.self, namespace: "post", key: "mail.port") == 25)
    #expect(try manager.getValue(Int.self, key: "post.mail.port") == 25)
    #expect(manager.report().contains("POST_MAIL_PORT = '25' read as: post.mail.port, post:mail.port\n"))
  }

  @Test func aListenerIsCalledForAVariable() throws {
    let seen = Seen<Int>()
    manager.addListener(Int.self, key: "server.port") { seen.note($0) }
    manager.addListener(Int.self, key: "SERVER_PORT") { seen.note($0 + 1) }
    manager.addListener(Int.self, key: "server.ports") { seen.note($0 + 2) }
    try variables(["SERVER_PORT": "80"])
    #expect(seen.all.sorted() == [80, 81])
  }

  @Test func aMissingValueNamesItsVariable() throws {
    try variables(["SERVER_PROT": "80"])
    let fault = #expect(throws: EnvironmentError.self) { try manager.getValue(Int.self, key: "server.port") }
    #expect(fault?.message.contains("SERVER_PORT") == true)
    #expect(fault?.message.contains("did you mean 'SERVER_PROT'?") == true)
  }

  // MARK: the command line

  @Test(arguments: [
    ("post", "mail.port", "--post:mail.port"), ("post", "mail.port", "--post.mail.port"),
    ("", "post.mail.port", "--post.mail.port"), ("", "post.mail.port", "--post-mail-port"),
    ("", "sessionIdle", "--session-idle"), ("", "sessionIdle", "--sessionIdle"), ("", "port", "--port"),
  ])
  func aLegalOptionMatchesItsKey(namespace: String, key: String, option: String) throws {
    try manager.addSource(CommandLineConfigurationSource(arguments: ["\(option)=80"]))
    #expect(try manager.getValue(Int.self, namespace: namespace, key: key) == 80)
  }

  @Test func aUserDefinedSourceChoosesItsSpelling() throws {
    let source = Vault()
    try manager.addSource(source)
    #expect(try manager.getValue(Int.self, key: "db.port") == 5432)
  }

  private final class Vault: ConfigurationSource {
    let url = "vault"
    let canOverrule = true
    let spelling = KeySpelling.environmentVariables(prefix: "")

    func load(_ manager: ConfigurationManager) throws {
      try manager.configurationAdded(ConfigurationItem(key: "DB_PORT", value: 5432), source: self)
    }
  }
}
