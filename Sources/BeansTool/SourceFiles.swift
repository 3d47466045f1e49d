import Beans
import Foundation

/// Where the files of modules stand. Declarations know theirs as `Module/File.swift`, whatever the machine: an editor wants the
/// path.
struct SourceFiles {
  private let folders: [String: String]

  /// - Parameter modules: the folder of each module's sources, as `Module=folder`.
  init(modules: [String]) {
    folders = Dictionary(
      modules.compactMap { text in
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The path of a file; the name as it is where nobody knows better.
  func path(of file: String) -> String {
    let parts = file.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let folder = folders[parts[0]] else { return file }
    // A module has only one file of a name.
    let files = FileManager.default.enumerator(
      atPath: URL(fileURLWithPath: folder).resolvingSymlinksInPath().path)
    while let next = files?.nextObject() as? String {
      if (next as NSString).lastPathComponent == parts[1] {
        return "\(folder.hasSuffix("/") ? folder : folder + "/")\(next)"
      }
    }
    return file
  }

  /// What a compiler says of a line: what is wrong, or more about that.
  enum Kind: String { case error, note }

  /// As compilers write it.
  func line(_ origin: EnvironmentError.Origin, _ message: String, as kind: Kind = .error) -> String {
    let text = message.split(separator: "\n").joined(separator: " ")
    return "\(path(of: origin.file)):\(max(1, origin.line)):\(origin.column ?? 1): \(kind): \(text)\n"
  }
}
