import BeansErrors
import Glibc
import Testing

@testable import BeansConfiguration

@Suite struct ConfigurationSourceTests {
  private let manager = ConfigurationManager()

  @Test func environmentVariables() throws {
    try manager.addSource(
      ProcessInfoConfigurationSource(variables: ["PORT": "80", "a:b:c": "x", ":bare": "y", "ns:": "ignored", "": "z"]))
    #expect(try manager.getValue(Int.self, key: "PORT") == 80)
    #expect(try manager.getValue(String.self, namespace: "a", key: "b:c") == "x")
    #expect(try manager.getValue(String.self, key: "bare") == "y")
    #expect(!manager.hasValue(namespace: "ns", key: ""))
  }

  @Test func theProcessesOwnVariables() throws {
    let source = ProcessInfoConfigurationSource()
    try manager.addSource(source)
    let path = try #require(getenv("PATH"))
    #expect(try manager.getValue(String.self, key: "PATH") == String(cString: path))
    #expect(source.canOverrule)
  }

  @Test func commandLine() throws {
    try manager.addSource(
      CommandLineConfigurationSource(arguments: [
        "program", "--port=80", "--shop:mail=a=b", "--verbose", "-x", "file", "--empty=", "--port=81", "--", "--late=1",
      ]))
    #expect(try manager.getValue(Int.self, key: "port") == 81)
    #expect(try manager.getValue(String.self, namespace: "shop", key: "mail") == "a=b")
    #expect(try manager.getValue(Bool.self, key: "verbose"))
    #expect(try manager.getValue(String.self, key: "verbose") == "true")
    #expect(try manager.getValue(String.self, key: "empty").isEmpty)
    #expect(!manager.hasValue(key: "late"))
    #expect(!manager.hasValue(key: "x"))
  }

  @Test(arguments: ["--=1", "--ns:=1", "--:"])
  func optionsWithoutAName(option: String) {
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
