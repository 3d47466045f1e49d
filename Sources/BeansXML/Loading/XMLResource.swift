import Beans
public import Foundation

/// A document to read, such as the one of an `<import>`.
public struct XMLResource: Sendable {
  /// Finds the document of `resource`, which is imported by the document named `source`. Called on the thread that
  /// loads.
  public typealias Resolver = (_ resource: String, _ source: String) throws -> XMLResource

  /// The document's bytes.
  public let data: Data
  /// The name of the document in faults, which also identifies it: importing it again while it is being read is a
  /// fault, and importing it again afterwards adds nothing.
  public let source: String

  /// Creates a resource.
  public init(data: Data, source: String) {
    self.data = data
    self.source = source
  }

  /// Finds local files, relative to the folder of the document that imports them. Follows no other URL.
  ///
  /// - Throws: `.invalidXML` where there is no such file.
  public static func localFile(_ resource: String, importedBy source: String) throws -> XMLResource {
    var path = resource
    if let scheme = resource.firstIndex(of: ":").map({ resource[..<$0] }), scheme.allSatisfy(\.isLetter) {
      guard scheme == "file", let url = URL(string: resource), url.host ?? "" == "", !url.path.isEmpty else {
        throw EnvironmentError(cause: .missingDocument, "only local files are imported, not '\(resource)'")
      }
      path = url.path
    }
    if !path.hasPrefix("/"), let end = source.lastIndex(of: "/") { path = source[...end] + path }
    do {
      return XMLResource(data: try LocalFile.read(path, limit: XMLLimits().bytes), source: path)
    } catch {
      throw EnvironmentError(cause: .missingDocument, "\(error)")
    }
  }
}
