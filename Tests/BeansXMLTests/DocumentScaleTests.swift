import Beans
import Foundation
import Testing

@testable import BeansXML

/// The cost of a document's parts.
@Suite struct DocumentScaleTests {
  /// Elements nested `depth` deep, each with its own declarations, and elements inside that declare one more.
  private static func document(_ depth: Int, declarations: Int, elements: Int) -> Data {
    var text = ""
    for level in 0..<depth {
      text += "<a" + (0..<declarations).map { " xmlns:p\(level)x\($0)='u:\(level):\($0)'" }.joined() + ">"
    }
    text += (0..<elements).map { "<p0x0:b xmlns:q\($0 % 7)='u:q' p1x1:c='1'/>" }.joined()
    text += String(repeating: "</a>", count: depth)
    return Data(text.utf8)
  }

  private static func time(_ data: Data) throws -> Duration {
    try ContinuousClock().measure { _ = try XMLDocumentReader(source: "x").read(data) }
  }

  @Test func theTimeIsLinearInTheNumberOfDeclarations() throws {
    // A copy of the bindings for each element would make the second document more than ten times as slow.
    let (small, large) = (
      Self.document(4, declarations: 50, elements: 2_000), Self.document(128, declarations: 50, elements: 2_000)
    )
    let times = try (0..<3).map { _ in try (Self.time(small), Self.time(large)) }
    let ratio = (times.map(\.1).min() ?? .zero) / (times.map(\.0).min() ?? .seconds(1))
    #expect(ratio < Double(large.count) / Double(small.count) * 5, "\(times)")
  }

  @Test func aPrefixIsThatOfTheInnermostElementAndEndsWithIt() throws {
    let root = try XMLDocumentReader(source: "x").read(
      Data("<a xmlns:p='u:1'><b xmlns:p='u:2' p:x='1'><c p:x='1'/></b><b p:x='1' q:x='1'/></a>".utf8))
    #expect(root.children[0].attributes[0].namespace == "u:2")
    #expect(root.children[0].children[0].attributes[0].namespace == "u:2")
    #expect(root.children[1].attributes.map(\.namespace) == ["u:1", ""])
  }

  /// Beans with names, short attributes and unsupported attributes, in a `<beans>` element with a profile.
  private static func beans(_ count: Int) -> Data {
    let beans = (0..<count).map {
      "<bean id='b\($0)' name='n\($0)' class='FaultyBean' p:text='${k:\($0)}'\($0 % 9 == 0 ? " init-method='a'" : "")/>"
    }
    let root = "<beans xmlns:p='http://www.springframework.org/schema/p'><beans profile='x' default-lazy-init='true'>"
    return Data("\(root)\(beans.joined())</beans></beans>".utf8)
  }

  @Test func theTimeOfALoadIsLinearInTheNumberOfBeans() throws {
    func time(_ data: Data) -> Duration {
      ContinuousClock().measure {
        #expect(throws: EnvironmentError.self) {
          try Environment(name: "scale").loadXML(data, source: "x", handlers: [], placeholders: .spring)
        }
      }
    }
    let (small, large) = (Self.beans(100), Self.beans(1_600))
    let times = (0..<3).map { _ in (time(small), time(large)) }
    let ratio = (times.map(\.1).min() ?? .zero) / (times.map(\.0).min() ?? .seconds(1))
    #expect(ratio < 16 * 5, "\(times)")
  }
}
