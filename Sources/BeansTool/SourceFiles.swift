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

  /// The path of a file; the name as it is where no module is known to have it.
  func path(of file: String) -> String {
    if let source = source(ofResource: file) { return source }
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

  /// The source of a resource that the build has copied into a module's bundle, `…/Package_Module.resources/`.
  private func source(ofResource copy: String) -> String? {
    let parts = copy.split(separator: "/").map(String.init)
    guard let bundle = parts.lastIndex(where: { $0.hasSuffix(".resources") }), let name = parts.last else { return nil }
    let owner = parts[bundle].dropLast(".resources".count)
    // Names of packages and modules may have underscores: the longest name is meant.
    let modules = folders.keys.filter { owner.hasSuffix("_\($0)") }
    guard let module = modules.max(by: { $0.count < $1.count }), let folder = folders[module] else { return nil }
    let path = parts[(bundle + 1)...].joined(separator: "/")
    let files = (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
      .filter { ($0 as NSString).lastPathComponent == name }.sorted()
    // Resources that are processed lose their folder.
    let source = files.first { $0 == path || $0.hasSuffix("/\(path)") } ?? (files.count == 1 ? files[0] : nil)
    return source.map { "\(folder.hasSuffix("/") ? folder : folder + "/")\($0)" }
  }

  /// What a compiler says of a line: what is wrong, or more about that.
  enum Kind: String { case error, note }

  /// As compilers write it.
  func line(_ origin: EnvironmentError.Origin, _ message: String, as kind: Kind = .error) -> String {
    let text = message.split(separator: "\n").joined(separator: " ")
    return "\(path(of: origin.file)):\(max(1, origin.line)):\(origin.column ?? 1): \(kind): \(text)\n"
  }
}
