import Beans

/// A check that a document can be read byte by byte, which the outline and every position require.
enum XMLEncoding {
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// - Throws: `.invalidXML` for UTF-16, EBCDIC and similar encodings, and for data that is no XML.
  static func check(_ bytes: [UInt8], source: String) throws {
    let start = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
    let text = bytes[start...].drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    guard let first = text.first else { throw refusal("the document is empty", source) }
    guard first == UInt8(ascii: "<"), text.dropFirst().first != 0 else {
      throw refusal("the document does not begin with '<' in UTF-8: save it as XML in UTF-8", source)
    }
    guard let name = declared(text) else { return }
    guard isByteByByte(name) else {
      throw refusal("the encoding '\(name)' is not supported: save the document as UTF-8", source)
    }
  }

  /// Returns the encoding in the XML declaration.
  private static func declared(_ text: ArraySlice<UInt8>) -> String? {
    guard text.starts(with: "<?xml".utf8) else { return nil }
    // Declarations are short. A declaration without an end is malformed, and the parser reports it.
    let declaration = String(decoding: text.prefix(512).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
    let words = declaration.split { $0 == "=" || $0 == "\"" || $0 == "'" || $0.isWhitespace }
    guard let place = words.firstIndex(of: "encoding"), place + 1 < words.endIndex else { return nil }
    return String(words[place + 1])
  }

  /// Whether an encoding represents each ASCII character as its ASCII byte, in every position.
  private static func isByteByByte(_ name: String) -> Bool {
    let name = name.lowercased()
    return ["utf-8", "utf8", "us-ascii", "ascii"].contains(name)
      || ["iso-8859-", "windows-125", "cp125"].contains { name.hasPrefix($0) }
  }

  private static func refusal(_ message: String, _ source: String) -> EnvironmentError {
    EnvironmentError(.invalidXML, message, origin: EnvironmentError.Origin(file: source, line: 1, column: 1))
  }
}
