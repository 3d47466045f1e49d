import Beans

/// The documents one load has read, and those it is in the middle of.
final class XMLImporter {
  private let resolver: XMLResource.Resolver
  private let limits: XMLLimits
  /// From the document that was loaded to the one being read.
  private var open: [(source: String, identity: String)] = []
  private var seen: Set<String> = []

  init(resolver: @escaping XMLResource.Resolver, limits: XMLLimits) {
    self.resolver = resolver
    self.limits = limits
  }

  /// What `<import>` asks for.
  func load(_ resource: String, _ context: XMLContext) throws {
    try load(resolver(resource, open.last?.source ?? ""), context)
  }

  func load(_ resource: XMLResource, _ context: XMLContext) throws {
    let identity = LocalFile.identity(of: resource.source)
    if let start = open.firstIndex(where: { $0.identity == identity }) {
      let circle = (open[start...].map(\.source) + [open[start].source]).joined(separator: " → ")
      throw EnvironmentError(cause: .missingDocument, "documents import each other in a circle: \(circle)")
    }
    // One that several documents import counts once: its ids would stand twice.
    guard seen.insert(identity).inserted else { return }
    guard seen.count <= limits.documents, open.count < limits.depth else {
      throw EnvironmentError(.invalidXML, "more than \(limits.documents) documents, or imports too deep")
    }
    open.append((resource.source, identity))
    defer { open.removeLast() }
    let root = try XMLDocumentReader(source: resource.source, limits: limits).read(resource.data)
    BeansElement.process(root, context)
  }
}
