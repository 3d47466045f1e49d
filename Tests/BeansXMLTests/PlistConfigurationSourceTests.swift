import Beans
import BeansXML
import Foundation
import Testing

@Suite struct PlistConfigurationSourceTests {
  private let folder: TemporaryFolder
  private let manager = ConfigurationManager()

  init() throws { folder = try TemporaryFolder() }

  private static func xml(_ content: String) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n\(content)\n</plist>\n"
  }

  private func load(_ data: Data) throws {
    try manager.addSource(PlistConfigurationSource(path: folder.write("Info.plist", data)))
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func valuesKeepTheirTypes(_ format: PropertyListSerialization.PropertyListFormat) throws {
    let date = Date(timeIntervalSince1970: 1_000_000)
    let content: [String: Any] = [
      "text": "x", "int": 1, "zero": 0, "yes": true, "no": false, "real": 1.5, "list": ["a", "b"], "numbers": [1, 2],
      "com.foo:port": 80, "nested": ["inner": ["deep": 3]], "date": date, "data": Data([1, 2]),
    ]
    try load(PropertyListSerialization.data(fromPropertyList: content, format: format, options: 0))
    #expect(try manager.getValue((any Sendable).self, key: "text") as? String == "x")
    #expect(try manager.getValue((any Sendable).self, key: "int") as? Int == 1)
    #expect(try manager.getValue((any Sendable).self, key: "int") as? Bool == nil)
    #expect(try manager.getValue((any Sendable).self, key: "zero") as? Int == 0)
    #expect(try manager.getValue((any Sendable).self, key: "yes") as? Bool == true)
    #expect(try manager.getValue((any Sendable).self, key: "no") as? Bool == false)
    #expect(try manager.getValue((any Sendable).self, key: "real") as? Double == 1.5)
    #expect(try manager.getValue([String].self, key: "list") == ["a", "b"])
    #expect(try manager.getValue([Int].self, key: "numbers") == [1, 2])
    #expect(try manager.getValue(Int.self, namespace: "com.foo", key: "port") == 80)
    #expect(try manager.getValue(Int.self, key: "nested.inner.deep") == 3)
    #expect(try manager.getValue(Date.self, key: "date") == date)
    #expect(try manager.getValue(Data.self, key: "data") == Data([1, 2]))
  }

  @Test(arguments: [
    (xml("<dict><key>a</key></dict>"), 1), (xml("<array/>"), 1), (xml("<string>x</string>"), 1), ("", 1), ("hello", 1),
    ("{a = 1;}", 1), ("bplist00", 1), ("<plist>", 1), ("<plist><dict>", 1),
    (xml("<dict><key>a</key><array><dict/></array></dict>"), 1), (xml("<dict><key></key><true/></dict>"), 1),
    ("<!DOCTYPE plist [<!ENTITY e 'x'>]>" + xml("<dict><key>a</key><string>&e;</string></dict>"), 1),
  ])
  func aMalformedListIsAnErrorThatNamesTheFile(_ text: String, line: Int) throws {
    let fault = try #require(throws: EnvironmentError.self) { try load(Data(text.utf8)) }
    #expect(fault.code == .conversionFailed, "\(fault)")
    #expect(fault.origin?.file.hasSuffix("/Info.plist") == true && (fault.origin?.line ?? 0) >= line)
    #expect(!manager.hasValue(key: "a"))
  }

  @Test func depthIsLimited() throws {
    let deep = String(repeating: "<array>", count: 100_000) + String(repeating: "</array>", count: 100_000)
    let fault = try #require(throws: EnvironmentError.self) { try load(Data(Self.xml(deep).utf8)) }
    #expect(fault.code == .conversionFailed)
  }

  @Test func damagedBinaryListsAreErrorsOrValuesAndNeverTraps() throws {
    let content: [String: Any] = ["a": [1, 2, 3], "b": "text", "c": ["d": 1.5, "e": true]]
    let bytes = try PropertyListSerialization.data(fromPropertyList: content, format: .binary, options: 0)
    for index in bytes.indices {
      for byte in [0, 0xD1, 0xFF] as [UInt8] {
        var damaged = bytes
        damaged[index] = byte
        let source = PlistConfigurationSource(path: try folder.write("damaged.plist", damaged))
        do {
          try manager.addSource(source)
        } catch {
          #expect(error is EnvironmentError, "byte \(index) \(byte): \(error)")
        }
      }
    }
  }

  /// Each object an array that names the next one `times` times.
  private static func chain(_ count: UInt8, times: UInt8, end: UInt8? = nil) -> Data {
    var bytes = Data("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in 0..<count {
      offsets.append(UInt8(bytes.count))
      guard let next = object + 1 < count ? object + 1 : end else {
        bytes.append(0xA0)
        continue
      }
      bytes.append(0xA0 + times)
      for _ in 0..<times { bytes.append(next) }
    }
    let table = UInt8(bytes.count)
    bytes.append(contentsOf: offsets)
    bytes.append(contentsOf: [0, 0, 0, 0, 0, 0, 1, 1])
    for number in [count, 0, table] { bytes.append(contentsOf: [0, 0, 0, 0, 0, 0, 0, number]) }
    return bytes
  }

  @Test func valuesThatMultiplyAreRefusedUnread() throws {
    for (list, says) in [
      (Self.chain(40, times: 2), "too often"), (Self.chain(3, times: 1, end: 0), "too deep"),
      (Self.chain(3, times: 2, end: 0), "too often"), (Self.chain(4, times: 2), "outermost value"),
    ] {
      let fault = try #require(throws: EnvironmentError.self) { try load(list) }
      #expect(fault.code == .conversionFailed && fault.message.contains(says), "\(fault)")
    }
  }

  @Test func thePlaceOfAnErrorIsItsLine() throws {
    let fault = try #require(throws: EnvironmentError.self) {
      try load(Data(Self.xml("<dict>\n\n<oops/></dict>").utf8))
    }
    #expect(fault.origin?.line == 5, "\(fault)")
  }

  @Test func missingFilesAreErrors() throws {
    final class Anchor {}
    for source in [
      PlistConfigurationSource(path: "/no/such/Info.plist"), PlistConfigurationSource(name: "NoSuchList"),
      PlistConfigurationSource(name: "NoSuchList", forClass: Anchor.self), PlistConfigurationSource(),
      PlistConfigurationSource(path: folder.url.path),
    ] {
      let fault = try #require(throws: EnvironmentError.self) { try manager.addSource(source) }
      #expect(fault.code == .missingConfiguration && fault.message.contains(".plist") || source.url == folder.url.path)
    }
  }

  @Test func aNameIsFoundBesideTheExecutable() throws {
    let folder = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
    let name = "beans-\(UUID().uuidString)"
    let file = folder.appendingPathComponent("\(name).plist")
    try Data(Self.xml("<dict><key>a</key><integer>1</integer></dict>").utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try manager.addSource(PlistConfigurationSource(name: name))
    #expect(try manager.getValue(Int.self, key: "a") == 1)
  }
}
