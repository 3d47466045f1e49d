import Beans
import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// A reader that turns the bytes of one document into a tree of elements with their positions.
///
/// It opens nothing outside the document: no DTD, no entity. It uses no state outside itself, so documents can be read
/// on several threads.
struct XMLDocumentReader {
  let source: String
  var limits = XMLLimits()

  /// Reads the root element.
  ///
  /// - Throws: `.invalidXML` at the first position where the document is not well-formed, or for a document that is
  ///   rejected before parsing.
  func read(_ data: Data) throws -> DocumentElement {
    let bytes = [UInt8](data)
    let outline = try XMLOutline(bytes, limits: limits, source: source)
    let events = XMLEvents(outline: outline, source: source)
    // From an array, because a slice of data does not begin at index 0, which the parser does not support.
    let parser = XMLParser(data: Data(outline.parsable))
    parser.shouldProcessNamespaces = true
    parser.shouldReportNamespacePrefixes = true
    parser.shouldResolveExternalEntities = false
    parser.delegate = events
    // The result is ignored: it is true after most errors, so it does not show whether the document is well-formed.
    _ = parser.parse()
    if let fault = events.fault { throw fault }
    guard let root = events.root else {
      throw EnvironmentError(
        .invalidXML, "the document has no element", origin: .init(file: source, line: 1, column: 1))
    }
    return root
  }
}

/// The delegate of the parser. It builds the tree from events, and stops the parser at the first error.
private final class XMLEvents: NSObject, XMLParserDelegate {
  private let outline: XMLOutline
  private let source: String
  private var open: [ElementBuilder] = []
  /// The URIs of each prefix in the open elements, the innermost last.
  private var bindings: [String: [String]] = ["xml": [XMLNamespace.xml]]
  private var nextTag = 0
  /// The namespace declarations of the next element.
  private var declared: [String: String] = [:]
  private(set) var root: DocumentElement?
  private(set) var fault: EnvironmentError?

  init(outline: XMLOutline, source: String) {
    self.outline = outline
    self.source = source
  }

  func parser(_ parser: XMLParser, didStartMappingPrefix prefix: String, toURI namespaceURI: String) {
    declared[prefix] = namespaceURI
  }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
    attributes values: [String: String]
  ) {
    guard fault == nil else { return }
    let tag = nextTag < outline.tags.count ? outline.tags[nextTag] : nil
    nextTag += 1
    let origin = tag.map { self.origin($0.position) } ?? origin(of: parser)
    let prefixes = Array(declared.keys)
    for (prefix, namespace) in declared { bindings[prefix, default: []].append(namespace) }
    declared = [:]
    open.append(
      ElementBuilder(
        name: elementName, qualifiedName: qualifiedName ?? elementName, namespace: namespaceURI ?? "",
        attributes: attributes(values, tag), origin: origin, prefixes: prefixes, within: open.last))
  }

  func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
    guard fault == nil, let builder = open.popLast() else { return }
    for prefix in builder.prefixes { bindings[prefix]?.removeLast() }
    let element = builder.finish()
    if open.isEmpty {
      root = element
    } else {
      open[open.count - 1].children.append(element)
    }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    if !open.isEmpty { open[open.count - 1].append(string) }
  }

  func parser(_ parser: XMLParser, foundCDATA data: Data) {
    if !open.isEmpty { open[open.count - 1].append(verbatim: String(decoding: data, as: UTF8.self)) }
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    let code = (error as NSError).code
    guard fault == nil, !XMLErrorText.isTolerated(code) else { return }
    fault = EnvironmentError(.invalidXML, XMLErrorText.describe(code), origin: origin(of: parser))
    // The parser would guess how to continue, and report its own guesses as errors of the document.
    parser.abortParsing()
  }

  private func attributes(_ values: [String: String], _ tag: XMLOutline.Tag?) -> [DocumentAttribute] {
    (tag?.attributes ?? []).compactMap { attribute in
      let qualifiedName = outline.text(attribute.name)
      // The parser does not treat namespace declarations as attributes.
      guard let value = values[qualifiedName] else { return nil }
      let parts = qualifiedName.split(separator: ":", maxSplits: 1)
      let prefix = parts.count == 2 ? String(parts[0]) : nil
      return DocumentAttribute(
        name: String(parts.last ?? ""), qualifiedName: qualifiedName,
        namespace: prefix.flatMap { bindings[$0]?.last } ?? "", value: value, origin: origin(attribute.position))
    }
  }

  private func origin(_ position: XMLOutline.Position) -> EnvironmentError.Origin {
    EnvironmentError.Origin(file: source, line: position.line, column: position.column)
  }

  private func origin(of parser: XMLParser) -> EnvironmentError.Origin {
    EnvironmentError.Origin(file: source, line: max(parser.lineNumber, 1), column: max(parser.columnNumber, 1))
  }
}
