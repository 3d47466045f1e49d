import Beans
import Foundation
import Testing

@testable import BeansXML

@Suite struct XMLDocumentReaderTests {
  private func read(_ text: String, limits: XMLLimits = XMLLimits()) throws -> DocumentElement {
    try XMLDocumentReader(source: "test.xml", limits: limits).read(Data(text.utf8))
  }

  private func fault(_ text: String, limits: XMLLimits = XMLLimits()) -> EnvironmentError? {
    #expect(throws: EnvironmentError.self) { try read(text, limits: limits) }
  }

  @Test func elementsHaveTheirNamespaceUnderAnyPrefix() throws {
    let root = try read(
      "<a xmlns='u:1' xmlns:p='u:2'><p:b q='1' p:q='2'><c xmlns='u:3' xmlns:p='u:4' p:q='3'/></p:b></a>")
    #expect(root.namespace == "u:1" && root.name == "a" && root.attributes.isEmpty)
    let inner = try #require(root.children.first)
    #expect(inner.namespace == "u:2" && inner.name == "b" && inner.qualifiedName == "p:b")
    #expect(inner.attributes.map(\.namespace) == ["", "u:2"] && inner["q"] == "1")
    let innermost = try #require(inner.children.first)
    #expect(innermost.namespace == "u:3" && innermost.attributes.map(\.namespace) == ["u:4"])
  }

  @Test func positionsAreThoseOfTheTagAndOfTheAttribute() throws {
    let root = try read(
      """
      <?xml version="1.0"?>
      <!-- <not> a='tag' -->
      <a>é<b
          x = "<é>".
      """.replacingOccurrences(of: "<é>\".", with: "é\"\n y='>'/><![CDATA[<c>]]> <?p <d> ?><e f=''/>\n</a>"))
    #expect(root.origin == .init(file: "test.xml", line: 3, column: 1))
    #expect(root.children.map(\.name) == ["b", "e"])
    #expect(root.children[0].origin == .init(file: "test.xml", line: 3, column: 5))
    #expect(root.children[0].attributes.map(\.origin.line) == [4, 5])
    #expect(root.children[0].attributes.map(\.origin.column) == [5, 2])
    #expect(root.children[1].origin == .init(file: "test.xml", line: 5, column: 35))
  }

  @Test func aByteOrderMarkIsNoColumn() throws {
    let data = Data([0xEF, 0xBB, 0xBF]) + Data("<a/>".utf8)
    #expect(try XMLDocumentReader(source: "x").read(data).origin.column == 1)
  }

  @Test func aSliceOfDataIsReadFromItsOwnBeginning() throws {
    let data = Data("junk<a b='1'/>".utf8).dropFirst(4)
    #expect(try XMLDocumentReader(source: "x").read(data)["b"] == "1")
  }

  @Test func textIsWholeInAnyNumberOfPieces() throws {
    #expect(try read("<a> 1 &lt; 2 &amp;&amp; 3 &#62; 2<b/> x\n</a>").text == "1 < 2 && 3 > 2 x")
    let long = String(repeating: "0123456789&amp;", count: 50_000)
    #expect(try read("<a>\(long)</a>").text == long.replacingOccurrences(of: "&amp;", with: "&"))
  }

  @Test func spaceInCDATAAndPreservedSpaceIsText() throws {
    #expect(try read("<a> <![CDATA[ x ]]> </a>").text == " x ")
    #expect(try read("<a> y <![CDATA[ x]]> z </a>").text == "y  x z")
    #expect(try read("<a xml:space='preserve'> x <b> y </b></a>").text == " x ")
    #expect(try read("<a xml:space='preserve'><b> y </b></a>").children[0].text == " y ")
    #expect(try read("<a xml:space='preserve'><b xml:space='default'> y </b></a>").children[0].text == "y")
    #expect(try read("<a> \n\t </a>").text.isEmpty)
  }

  @Test func undeclaredPrefixesAreLeftToTheHandlers() throws {
    let root = try read("<a xmlns='rel' xsi:schemaLocation='x y'><q:b/></a>")
    #expect(root.namespace == "rel" && root.undeclaredPrefix == nil)
    #expect(root.attributes.map(\.qualifiedName) == ["xsi:schemaLocation"])
    #expect(root.children[0].undeclaredPrefix == "q")
  }

  @Test func latinIsReadAsItDeclares() throws {
    let text = "<?xml version='1.0' encoding='ISO-8859-1'?><a b='é'>ü</a>"
    let data = try #require(text.data(using: .isoLatin1))
    let root = try XMLDocumentReader(source: "x").read(data)
    #expect(root["b"] == "é" && root.text == "ü")
  }

  @Test(arguments: [
    ("<a>\n<b></a>", 2, "closing tag"), ("<a>\n <b c=1/></a>", 2, "quotes"), ("<a b='1' b='2'/>", 1, "twice"),
    ("<a>\n<b>", 2, ""), ("<a/>\n<b/>", 2, "after its end"), ("<a>&nope;</a>", 1, "not declared"),
    ("<a b='<'/>", 1, "'<'"), ("<!-- only -->", 1, ""), ("<a xmlns:p='u:' xmlns:q='u:' p:x='' q:x=''/>", 1, "twice"),
    ("hello", 1, "'<'"), ("", 1, "empty"), (" \n", 1, "empty"), ("<a>\u{1}</a>", 1, "not allowed"), ("<", 1, ""),
    ("<a", 1, ""), ("<!DOCTYPE", 1, ""), ("<!DOCTYPE a", 1, ""), ("<a b", 1, ""), ("<a b='", 1, ""), ("</a>", 1, ""),
    ("<![CDATA[", 1, ""), ("<a></a></a>", 1, "after its end"), ("<a/>text", 1, "after its end"),
    ("<a:b:c xmlns:a='u:'/>", 1, "qualified name"),
  ])
  func aMalformedDocumentIsOneFaultWithItsPlace(_ text: String, line: Int, says: String) {
    let fault = fault(text)
    #expect(fault?.code == .invalidXML)
    #expect(fault?.origin?.line == line, "\(text.debugDescription): \(fault?.description ?? "")")
    #expect(fault?.origin?.column != nil)
    #expect(says.isEmpty || fault?.message.contains(says) == true, "\(fault?.description ?? "")")
  }

  @Test func bytesThatAreNotUTF8AreRefused() throws {
    for bytes in [
      Data([0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E]), Data([0x3C, 0x61, 0x3E, 0, 0x3C, 0x2F, 0x61, 0x3E]),
      try #require("<?xml version='1.0' encoding='UTF-16'?><a/>".data(using: .utf16)),
      try #require("<a/>".data(using: .utf16LittleEndian)), try #require("<a/>".data(using: .utf16BigEndian)),
      Data("<?xml version='1.0' encoding='UTF-7'?><a/>".utf8), Data([0x4C, 0x6F, 0xA7, 0x94, 0x93]),
    ] {
      let fault = #expect(throws: EnvironmentError.self) { try XMLDocumentReader(source: "x").read(bytes) }
      #expect(fault?.code == .invalidXML)
    }
  }
}
