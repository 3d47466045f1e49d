import Beans

/// The documents that one load has read, and those in progress.
final class XMLImporter {
  private let resolver: XMLResource.Resolver
  private let limits: XMLLimits
  /// The documents in progress, from the loaded document to the innermost import.
  private var open: [(source: String, identity: String)] = []
  private var seen: Set<String> = []

  init(resolver: @escaping XMLResource.Resolver, limits: XMLLimits) {
    self.resolver = resolver
    self.limits = limits
  }

  /// Loads the resource of an `<import>`.
  ///
  /// - Parameters:
  ///   - resource: the name of the document.
  ///   - profiles: the profiles that hold for its contents.
  ///   - process: processes the root element, and imports further documents.
  func load(_ resource: String, profiles: [[ProfileExpression]], _ process: (DocumentElement) -> Void) throws {
    try load(resolver(resource, open.last?.source ?? ""), profiles: profiles, process)
  }

  /// Loads a document, unless it has been read already.
  func load(_ resource: XMLResource, profiles: [[ProfileExpression]], _ process: (DocumentElement) -> Void) throws {
    let identity = LocalFile.identity(of: resource.source)
    if let start = open.firstIndex(where: { $0.identity == identity }) {
      let circle = (open[start...].map(\.source) + [open[start].source]).joined(separator: " → ")
      throw EnvironmentError(cause: .missingDocument, "documents import each other in a circle: \(circle)")
    }
    // A document that several documents import is read once, because its ids would otherwise be defined twice.
    // Under other profiles, it is another set of beans.
    let profiles = profiles.map { "\($0)" }.joined(separator: "&")
    guard !seen.contains(identity), seen.insert(identity + profiles).inserted else { return }
    guard seen.count <= limits.documents, open.count < limits.depth else {
      throw EnvironmentError(.invalidXML, "more than \(limits.documents) documents, or imports too deep")
    }
    open.append((resource.source, identity))
    defer { open.removeLast() }
    let root = try XMLDocumentReader(source: resource.source, limits: limits).read(resource.data)
    process(root)
  }
}
