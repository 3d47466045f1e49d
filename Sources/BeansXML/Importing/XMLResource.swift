import Beans
public import Foundation

/// A document to read, such as the one of an `<import>`.
public struct XMLResource: Sendable {
  /// Finds the document of `resource`, which is imported by the document named `source`. Called on the thread that
  /// loads.
  public typealias Resolver = (_ resource: String, _ source: String) throws -> XMLResource

  /// The document's bytes.
  package let data: Data
  /// The name of the document in faults, which also identifies it: importing it again while it is being read is a
  /// fault, and importing it again afterwards adds nothing.
  package let source: String

  /// Creates a resource.
  public init(data: Data, source: String) {
    self.data = data
    self.source = source
  }

  /// Finds local files, relative to the folder of the document that imports them. Follows no other URL.
  ///
  /// `classpath:` and `classpath*:` mean the same: the file in the folder of the importing document, else in that of the
  /// executable, else in the folder `Resources` beside the executable. Pass a resolver of your own for the resources of
  /// a package.
  ///
  /// - Throws: `.invalidXML` where there is no such file, and for names with wildcards or placeholders.
  public static func localFile(_ resource: String, importedBy source: String) throws -> XMLResource {
    if resource.contains("${") {
      throw EnvironmentError(
        cause: .missingDocument,
        "the placeholders of '\(resource)' are not replaced: write the path, or pass a resolver to loadXML")
    }
    for scheme in ["classpath*:", "classpath:"] where resource.hasPrefix(scheme) {
      return try classPathFile(String(resource.dropFirst(scheme.count).drop { $0 == "/" }), resource, source)
    }
    var path = resource
    if let scheme = resource.firstIndex(of: ":").map({ resource[..<$0] }), scheme.allSatisfy(\.isLetter) {
      guard scheme == "file", let url = URL(string: resource), url.host ?? "" == "", !url.path.isEmpty else {
        throw EnvironmentError(cause: .missingDocument, "only local files are imported, not '\(resource)'")
      }
      path = url.path
    }
    if path.contains("*") { throw wildcards(resource) }
    return try read(beside(source, path))
  }

  private static func classPathFile(_ path: String, _ resource: String, _ source: String) throws -> XMLResource {
    if path.contains(where: { $0 == "*" || $0 == "?" }) { throw wildcards(resource) }
    let executable = Bundle.main.bundlePath
    let places = [beside(source, path), "\(executable)/\(path)", "\(executable)/Resources/\(path)"]
    guard let found = places.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
      throw EnvironmentError(
        cause: .missingDocument,
        "'\(resource)' does not exist beside the importing document nor beside the executable: "
          + places.map { "'\($0)'" }.joined(separator: ", "))
    }
    return try read(found)
  }

  private static func wildcards(_ resource: String) -> EnvironmentError {
    EnvironmentError(cause: .missingDocument, "the wildcards of '\(resource)' are not expanded: import each document")
  }

  private static func beside(_ source: String, _ path: String) -> String {
    guard !path.hasPrefix("/"), let end = source.lastIndex(of: "/") else { return path }
    return source[...end] + path
  }

  private static func read(_ path: String) throws -> XMLResource {
    do {
      return XMLResource(data: try LocalFile.read(path, limit: XMLLimits().bytes), source: path)
    } catch {
      throw EnvironmentError(cause: .missingDocument, "\(error)")
    }
  }
}
