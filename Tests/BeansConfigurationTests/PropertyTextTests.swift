import BeansConfiguration
import BeansErrors
import Testing

@Suite struct PropertyTextTests {
  private func items(_ text: String) throws -> [String] {
    try PropertyText.items(from: Array(text.utf8), path: "test.properties").map {
      "\($0.namespace):\($0.key)=\($0.value)"
    }
  }

  @Test func keysNamespacesAndCommentsAreRead() throws {
    let text = """
      # a comment
      host = example.org
      port=80

        spaced  =  a value # with a hash, and = signs
      empty =
      [shop.mail]
      port = 25
      # another
      [ ]
      last = 1
      """
    #expect(
      try items(text) == [
        ":host=example.org", ":port=80", ":spaced=a value # with a hash, and = signs", ":empty=",
        "shop.mail:port=25", ":last=1",
      ])
  }

  @Test func foreignLineEndsAndByteOrderMarksAreAccepted() throws {
    #expect(try items("\u{FEFF}a = 1\r\nb = ä\r\n") == [":a=1", ":b=ä"])
    #expect(try items("").isEmpty)
    #expect(try items("\n\n# only\n").isEmpty)
  }

  @Test(arguments: [
    ("a = 1\nno value\n", 2), ("= 1", 1), ("a = 1\n\n[open\n", 3), ("a = 1\nb = 2\na = 3", 3), ("<<<<<<< HEAD", 1),
  ])
  func aFaultNamesTheLine(text: String, line: Int) {
    let fault = #expect(throws: EnvironmentError.self) { try items(text) }
    #expect(fault?.code == .invalidDeclaration)
    #expect(fault?.origin == .init(file: "test.properties", line: line))
  }

  @Test func bytesThatAreNotUTF8AreRefused() {
    #expect(throws: EnvironmentError.self) { try PropertyText.items(from: [0x61, 0x3D, 0xFF], path: "x") }
  }

  @Test func namespacesMayShareAKey() throws {
    #expect(try items("k=1\n[a]\nk=2\n[b]\nk=3") == [":k=1", "a:k=2", "b:k=3"])
  }
}
