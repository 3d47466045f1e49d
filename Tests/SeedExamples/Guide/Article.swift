import Foundation

/// An article of the documentation, and the file that compiles its listings.
struct Article {
  let text: String
  private let listings: String

  /// The folder of the package.
  static let package = (1...4).reduce(URL(fileURLWithPath: #filePath)) { folder, _ in
    folder.deletingLastPathComponent()
  }

  init(_ name: String, of module: String = "Beans", listings: String) throws {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let catalog = Self.package.appendingPathComponent("Sources/\(module)/\(module).docc")
    text = try String(contentsOf: catalog.appendingPathComponent("\(name).md"), encoding: .utf8)
    self.listings = try String(contentsOf: here.appendingPathComponent("\(listings).swift"), encoding: .utf8)
  }

  /// Returns the blocks between fences of a language.
  func blocks(_ language: String) -> [String] { Self.blocks(language, of: text) }

  /// Returns the blocks of a text between fences of a language.
  static func blocks(_ language: String, of text: String) -> [String] {
    text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
      $0.components(separatedBy: "```\n").first
    }
  }

  /// The listings between the markers of the file, without their indentation.
  var compiled: [String] { Self.listings(of: listings) }

  /// Returns the listings between the markers of a file, without their indentation.
  ///
  /// A part that `// continued` begins belongs to the listing before it, so that a listing may consist of imports and of
  /// declarations that the file nests in a type.
  static func listings(of file: String) -> [String] {
    var listings: [String] = []
    var indentation: String?
    for line in file.components(separatedBy: "\n") {
      let word = line.drop { $0 == " " }
      switch (word, indentation) {
      case ("// listing", _):
        indentation = String(repeating: " ", count: line.count - word.count)
        listings.append("")
      case ("// continued", _): indentation = String(repeating: " ", count: line.count - word.count)
      case ("// end", _): indentation = nil
      case (_, let indentation?):
        listings[listings.count - 1] += line.dropFirst(line.isEmpty ? 0 : indentation.count) + "\n"
      default: break
      }
    }
    return listings
  }
}
