import Beans

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The source folders of modules. Declarations store their file as `Module/File.swift`, independent of the machine; an
/// editor needs the path.
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

  /// Returns the path of a file; the unchanged name where no known module contains the file.
  func path(of file: String) -> String {
    if let source = source(ofResource: file) { return source }
    let parts = file.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let folder = folders[parts[0]] else { return file }
    // File names are unique in a module.
    let path = Self.paths(below: folder).first { Self.name(of: $0) == parts[1] }
    return path.map { "\(folder.hasSuffix("/") ? folder : folder + "/")\($0)" } ?? file
  }

  /// Returns the paths of all files below a folder, relative to the folder.
  private static func paths(below folder: String) -> [String] {
    // The folder itself may be a link, which is not followed otherwise.
    let path = URL(filePath: folder).resolvingSymlinksInPath().path
    return (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
  }

  private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Returns the source of a resource that the build has copied into a module's bundle, `…/Package_Module.resources/`.
  private func source(ofResource copy: String) -> String? {
    let parts = copy.split(separator: "/").map(String.init)
    guard let bundle = parts.lastIndex(where: { $0.hasSuffix(".resources") }), let name = parts.last else { return nil }
    let owner = parts[bundle].dropLast(".resources".count)
    // Names of packages and modules may contain underscores, so the longest matching module name is used.
    let modules = folders.keys.filter { owner.hasSuffix("_\($0)") }
    guard let module = modules.max(by: { $0.count < $1.count }), let folder = folders[module] else { return nil }
    let path = parts[(bundle + 1)...].joined(separator: "/")
    let files = Self.paths(below: folder).filter { Self.name(of: $0) == name }.sorted()
    // Processed resources lose their folder.
    let source = files.first { $0 == path || $0.hasSuffix("/\(path)") } ?? (files.count == 1 ? files[0] : nil)
    return source.map { "\(folder.hasSuffix("/") ? folder : folder + "/")\($0)" }
  }

  /// The kind of a compiler message: an error, or a note on an error.
  enum Kind: String { case error, note }

  /// Returns a message in the format of compilers.
  func line(_ origin: EnvironmentError.Origin, _ message: String, as kind: Kind = .error) -> String {
    let text = message.split(separator: "\n").joined(separator: " ")
    return "\(path(of: origin.file)):\(max(1, origin.line)):\(origin.column ?? 1): \(kind): \(text)\n"
  }
}
