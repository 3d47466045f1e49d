import Beans
import Foundation
import Testing

@testable import BeansXML

/// Documents written to hurt the process that reads them. Each is refused by its own reason, and cheaply.
@Suite struct HostileDocumentTests {
  private static func nested(_ count: Int) -> String {
    String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count)
  }

  private static func wide(_ count: Int, _ attribute: (Int) -> String) -> String {
    "<a \((0..<count).map(attribute).joined(separator: " "))/>"
  }

  private static let laughs =
    "<!DOCTYPE a [<!ENTITY l0 'lol'>"
    + (1..<12).map { "<!ENTITY l\($0) '\(String(repeating: "&l\($0 - 1);", count: 10))'>" }.joined()
    + "]><a>&l11;</a>"

  private static let quadratic =
    "<!DOCTYPE a [<!ENTITY x '\(String(repeating: "x", count: 50_000))'>]><a>"
    + String(repeating: "&x;", count: 50_000) + "</a>"

  private static let defaults =
    "<!DOCTYPE a [<!ATTLIST b \((0..<1000).map { "a\($0) CDATA 'x'" }.joined(separator: " "))>]><a>"
    + String(repeating: "<b/>", count: 10_000) + "</a>"

  private func refusal(_ text: String) -> EnvironmentError? {
    #expect(throws: EnvironmentError.self) { try XMLDocumentReader(source: "hostile.xml").read(Data(text.utf8)) }
  }

  @Test(arguments: [
    ("billion laughs", laughs), ("quadratic blow-up", quadratic), ("default attributes", defaults),
    ("external entity", "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>"),
    ("parameter entity", "<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://127.0.0.1:9/x.dtd'> %p;]><a/>"),
    ("entity behind a quoted bracket", "<!DOCTYPE a SYSTEM \"[>'\" [<!ENTITY e 'x'>]><a>&e;</a>"),
    ("entity behind a comment", "<!-- <!DOCTYPE a> --><?p <a ?><!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>"),
  ])
  func aDTDInsideTheDocumentIsRefusedUnread(_ name: String, document: String) {
    let fault = refusal(document)
    #expect(fault?.code == .invalidXML)
    #expect(fault?.message.contains("DTD inside the document") == true, "\(name): \(fault?.description ?? "")")
    #expect(fault?.origin?.line == 1 && (fault?.origin?.column ?? 0) > 10)
  }

  @Test func anExternalDTDIsNeverOpened() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dtd-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let dtd = folder.appendingPathComponent("beans.dtd")
    try Data("<!ENTITY e 'fetched'><!ATTLIST a b CDATA 'fetched'>".utf8).write(to: dtd)
    let type = "<!DOCTYPE a SYSTEM '\(dtd.absoluteString)'>"
    let root = try XMLDocumentReader(source: "x").read(Data("\(type)<a/>".utf8))
    #expect(root["b"] == nil)
    #expect(refusal("\(type)<a>&e;</a>")?.message.contains("not declared") == true)
    let spring =
      "<!DOCTYPE beans PUBLIC '-//SPRING//DTD BEAN//EN' 'http://www.springframework.org/dtd/spring-beans.dtd'>"
    #expect(try XMLDocumentReader(source: "x").read(Data("\(spring)<beans/>".utf8)).name == "beans")
  }

  @Test func depthIsLimited() throws {
    #expect(try XMLDocumentReader(source: "x").read(Data(Self.nested(256).utf8)).children.count == 1)
    for count in [257, 100_000] {
      #expect(refusal(Self.nested(count))?.message.contains("256 deep") == true)
    }
    #expect(refusal(String(repeating: "<a>", count: 2_000_000))?.message.contains("256 deep") == true)
  }

  @Test func elementsSideBySideAreNotDepth() throws {
    let many = "<a>" + String(repeating: "<b/><b></b>", count: 2_000) + "</a>"
    #expect(try XMLDocumentReader(source: "x").read(Data(many.utf8)).children.count == 4_000)
  }

  @Test func attributesAndNamespacesOfOneElementAreLimited() throws {
    #expect(try XMLDocumentReader(source: "x").read(Data(Self.wide(256) { "a\($0)='1'" }.utf8)).attributes.count == 256)
    for document in [
      Self.wide(257) { "a\($0)='1'" }, Self.wide(100_000) { "a\($0)='1'" },
      Self.wide(100_000) { "xmlns:a\($0)='u:\($0)'" },
      Self.wide(100_000) { "a\($0) = \">\"" },
    ] {
      #expect(refusal(document)?.message.contains("256 attributes") == true)
    }
  }

  @Test func sizeIsLimited() {
    let limit = XMLLimits().bytes
    #expect(refusal("<a>\(String(repeating: "x", count: limit))</a>")?.message.contains("\(limit)") == true)
  }

  @Test func textJustBelowTheLimitIsRead() throws {
    let count = XMLLimits().bytes - 100
    let root = try XMLDocumentReader(source: "x").read(
      Data("<a b='y'>\(String(repeating: "x", count: count))</a>".utf8))
    #expect(root.text.utf8.count == count)
  }

  @Test(arguments: ["<?p?>", "<?p?><?q?>", "<?p ?>", "<?p\n?>", "<?p q?>", "<?é?>"])
  func aProcessingInstructionMayBeEmpty(_ instruction: String) throws {
    let document = "\(instruction)<a>x\(instruction)y<b/><![CDATA[<?p?>]]><!--<?p?>--></a>\(instruction)"
    let root = try XMLDocumentReader(source: "x").read(Data(document.utf8))
    #expect(root.text == "xy<?p?>")
    #expect(root.children.map(\.origin.line) == [document.prefix { $0 != "b" }.count { $0 == "\n" } + 1])
  }

  @Test(arguments: ["<??>", "<?xml?>", "<?>", "<?p?", "<?p&?>", "<?p:q?>"])
  func aMalformedProcessingInstructionIsAFault(_ instruction: String) {
    #expect(refusal("<a>\(instruction)</a>")?.code == .invalidXML)
    #expect(refusal("\(instruction)<a b='\(instruction)'/>")?.code == .invalidXML)
  }

  @Test func aDocumentCutAnywhereIsAFault() throws {
    let document =
      "<?xml version='1.0'?><!DOCTYPE a SYSTEM 'x'><!-- c --><a b='1' c=\"&amp;2\">t<![CDATA[<]]><?p q?><d/>&#33;</a>"
    let bytes = Array(document.utf8)
    _ = try XMLDocumentReader(source: "x").read(Data(bytes))
    for count in 0..<bytes.count {
      #expect(throws: EnvironmentError.self, "cut at \(count)") {
        try XMLDocumentReader(source: "x").read(Data(bytes.prefix(count)))
      }
    }
  }

  @Test func anyByteChangedEndsInATreeOrAFault() {
    let bytes = Array("<?xml version='1.0'?><a b='1' xmlns:p='u:'><p:c/>x<![CDATA[y]]></a>".utf8)
    for index in bytes.indices {
      for byte in [0, 0x22, 0x26, 0x27, 0x2F, 0x3C, 0x3E, 0x3A, 0x5B, 0x80, 0xFF] as [UInt8] {
        var changed = bytes
        changed[index] = byte
        do {
          _ = try XMLDocumentReader(source: "x").read(Data(changed))
        } catch {
          #expect((error as? EnvironmentError)?.code == .invalidXML)
        }
      }
    }
  }

  @Test func threadsReadDocumentsOfTheirOwn() async {
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<32 {
        group.addTask {
          let text =
            "<a>" + String(repeating: "<b c='\(number)'>\(number)</b>", count: 200) + (number % 2 == 0 ? "</a>" : "")
          let root = try? XMLDocumentReader(source: "\(number)").read(Data(text.utf8))
          guard number % 2 == 0 else { return root == nil }
          return root?.children.count == 200 && root?.children.allSatisfy { $0.text == "\(number)" } == true
        }
      }
      for await right in group { #expect(right) }
    }
  }
}
