import Beans
import BeansYAML
import TestSupport
import Testing

@Suite struct YAMLConfigurationSourceTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  @Test func aSourceReadsAFileAndOverrulesEarlierOnes() throws {
    let manager = ConfigurationManager()
    try manager.addSource(YAMLConfigurationSource(path: folder.write("a.yaml", "port: 1\nhost: x")))
    let source = try YAMLConfigurationSource(path: folder.write("b.yaml", "port: 2"))
    try manager.addSource(source)
    #expect(source.canOverrule && source.url == folder.path("b.yaml"))
    #expect(try manager.getValue(Int.self, key: "port") == 2)
    #expect(try manager.getValue(String.self, key: "host") == "x")
  }

  @Test func aSourceIsABeanWithAPath() throws {
    let environment = try Environment()
    try environment.define(
      environment.bean(YAMLConfigurationSource.self).property("path", value: folder.write("a.yaml", "port: 1")))
    try environment.startup()
    #expect(try environment.getConfigurationValue(Int.self, key: "port") == 1)
    try environment.shutdown()
  }

  @Test func faultsNameTheFile() throws {
    let manager = ConfigurationManager()
    for (path, code) in [
      ("/no/such/file.yaml", EnvironmentError.Code.missingConfiguration), (folder.path, .missingConfiguration),
      (try folder.write("a.yaml", "a: ["), .conversionFailed),
    ] {
      let fault = try #require(throws: EnvironmentError.self) {
        try manager.addSource(YAMLConfigurationSource(path: path))
      }
      #expect(fault.code == code && fault.message.contains("'\(path)'"), "\(fault)")
    }
  }
}
