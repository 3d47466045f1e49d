import BeansErrors
import Glibc
import Testing

@testable import BeansConfiguration

@Suite struct ConfigurationSourceTests {
  private let manager = ConfigurationManager()

  @Test func environmentVariablesAreReadWithNamespaces() throws {
    try manager.addSource(
      ProcessInfoConfigurationSource(variables: ["PORT": "80", "a:b:c": "x", ":bare": "y", "ns:": "ignored", "": "z"]))
    #expect(try manager.getValue(Int.self, key: "PORT") == 80)
    #expect(try manager.getValue(String.self, namespace: "a", key: "b:c") == "x")
    #expect(try manager.getValue(String.self, key: "bare") == "y")
    #expect(!manager.hasValue(namespace: "ns", key: ""))
  }

  @Test func theVariablesOfTheProcessAreTheDefault() throws {
    let source = ProcessInfoConfigurationSource()
    try manager.addSource(source)
    let path = try #require(getenv("PATH"))
    #expect(try manager.getValue(String.self, key: "PATH") == String(cString: path))
    #expect(source.canOverrule)
  }

  @Test func optionsOfTheCommandLineAreRead() throws {
    try manager.addSource(
      CommandLineConfigurationSource(arguments: [
        "program", "--port=80", "--shop:mail=a=b", "--verbose", "-x", "file", "--empty=", "--port=81", "--", "--late=1",
      ]))
    #expect(try manager.getValue(Int.self, key: "port") == 81)
    #expect(try manager.getValue(String.self, namespace: "shop", key: "mail") == "a=b")
    #expect(try manager.getValue(Bool.self, key: "verbose"))
    #expect(try manager.getValue(String.self, key: "empty").isEmpty)
    #expect(!manager.hasValue(key: "late"))
    #expect(!manager.hasValue(key: "x"))
  }

  @Test func anOptionTakesTheNextArgument() throws {
    try manager.addSource(
      CommandLineConfigurationSource(arguments: [
        "program", "--port", "8080", "--host", "x", "--offset", "-5", "--share", "-.5", "--in", "-", "--list", "a,b",
        "--shop:mail", "m@x", "--open", "--strict", "-v", "--text", "", "--last",
      ]))
    #expect(try manager.getValue(Int.self, key: "port") == 8080)
    #expect(try manager.getValue(String.self, key: "host") == "x")
    #expect(try manager.getValue(Int.self, key: "offset") == -5)
    #expect(try manager.getValue(Double.self, key: "share") == -0.5)
    #expect(try manager.getValue(String.self, key: "in") == "-")
    #expect(try manager.getValue([String].self, key: "list") == ["a", "b"])
    #expect(try manager.getValue(String.self, namespace: "shop", key: "mail") == "m@x")
    #expect(try manager.getValue(String.self, key: "text").isEmpty)
    for key in ["open", "strict", "last"] { #expect(try manager.getValue(Bool.self, key: key), "\(key)") }
  }

  @Test func aDeclaredFlagTakesNoArgument() throws {
    try manager.addSource(
      CommandLineConfigurationSource(
        arguments: ["program", "--verbose", "file", "--post.strict", "1", "--dry-run=false"],
        flags: ["verbose", "post:strict", "dryRun"]))
    #expect(try manager.getValue(Bool.self, key: "verbose"))
    #expect(try manager.getValue(Bool.self, namespace: "post", key: "strict"))
    #expect(try !manager.getValue(Bool.self, key: "dryRun"))
  }

  @Test(arguments: [["--port"], ["--port", "--host"], ["--port", "-v"], ["--port", "--", "80"]])
  func anOptionWithoutAValueIsNoNumberAndNoText(arguments: [String]) throws {
    try manager.addSource(CommandLineConfigurationSource(arguments: arguments))
    func refused<T>(_ type: T.Type) {
      let fault = #expect(throws: EnvironmentError.self) { try manager.getValue(type, key: "port") }
      #expect(fault?.code == .conversionFailed)
      #expect(fault?.message.contains("'port' of command line") == true, "\(fault.map { "\($0)" } ?? "")")
      #expect(fault?.message.contains("--port=") == true)
    }
    refused(Int.self)
    refused(Double.self)
    refused(String.self)
    refused([String].self)
    refused(Int?.self)
    refused(Duration.self)
    #expect(try manager.getValue(Bool?.self, key: "port") == true)
  }

  @Test func trueNeverBecomesANumber() throws {
    try manager.addSource(FixedSource("file", ["on": true, "text": "true"]))
    try manager.addSource(CommandLineConfigurationSource(arguments: ["--flag"], flags: ["flag"]))
    for key in ["on", "text", "flag"] {
      #expect(try manager.getValue(Bool.self, key: key))
      #expect(throws: EnvironmentError.self) { try manager.getValue(Int.self, key: key) }
      #expect(throws: EnvironmentError.self) { try manager.getValue(Double.self, key: key) }
    }
  }

  @Test(arguments: ["--=1", "--ns:=1", "--:"])
  func anOptionWithoutANameIsRefused(option: String) {
    let source = CommandLineConfigurationSource(arguments: ["program", "--good=1", option])
    let fault = #expect(throws: EnvironmentError.self) { try manager.addSource(source) }
    #expect(fault?.code == .invalidDeclaration)
    #expect(fault?.message.contains(option) == true)
    #expect(!manager.hasValue(key: "good"))
  }

  @Test func theArgumentsOfThisProcessAreTheDefault() throws {
    try manager.addSource(CommandLineConfigurationSource())
    #expect(CommandLineConfigurationSource().url == "command line")
  }

  @Test func qualifiedKeysAreSplitAtTheFirstColon() {
    #expect(QualifiedKey("a:b:c") == QualifiedKey(namespace: "a", key: "b:c"))
    #expect(QualifiedKey("a") == QualifiedKey(namespace: "", key: "a"))
    #expect("\(QualifiedKey("a:b"))" == "a:b")
  }
}
