import Foundation

/// An article of the documentation, and the files that compile its listings.
struct Article {
  var text: String
  private let files: [String]

  init(_ name: String) throws {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let root = package.deletingLastPathComponent().deletingLastPathComponent()
    let paths = ["Beans", "BeansSessions"].map { "\(root.path)/Sources/\($0)/\($0).docc/\(name).md" }
    let path = paths.first { FileManager.default.fileExists(atPath: $0) } ?? paths[0]
    text = try String(contentsOfFile: path, encoding: .utf8)
    let folder = package.appendingPathComponent("Listings/\(name)")
    files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasSuffix(".swift") }
      .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
  }

  /// The blocks of Swift in the text.
  var blocks: [String] {
    text.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```\n").first }
  }

  /// The listings between the markers of the files, in the order of the files' names.
  var compiled: [String] {
    files.flatMap { file in
      file.components(separatedBy: "// listing\n").dropFirst().compactMap {
        $0.components(separatedBy: "// end\n").first
      }
    }
  }
}
