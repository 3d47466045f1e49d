import Testing

@testable import BeansReflection

@Suite struct EnumCasesTests {
  private enum Mode: String { case plain, tls = "TLS" }
  private enum Only { case one }
  private enum Payload { case number(Int), none }
  private enum Never {}

  @Test func casesHaveTheirNames() {
    #expect(EnumCases.names(of: Mode.self) == ["plain", "tls"])
    #expect(EnumCases.names(of: Only.self) == ["one"])
    #expect(Set(EnumCases.names(of: Payload.self)) == ["number", "none"])
    #expect(EnumCases.names(of: Never.self).isEmpty)
  }

  @Test(arguments: [Int.self, String.self, Int?.self, [Int].self, (Int, Int).self, (any Sendable).self] as [Any.Type])
  func otherTypesHaveNoCases(type: Any.Type) { #expect(EnumCases.names(of: type).isEmpty) }
}
