public import Beans
public import Foundation

extension Environment {
  /// Declares the contents of an XML document in Spring's syntax: all of it, or nothing where the document has a fault.
  ///
  /// `<beans>` may have Spring's namespace or none; undeclared `xsi:` attributes are tolerated. The origin of each bean
  /// is the position of its tag, and faults of startup name it. Faults of a property, an argument or an element of a
  /// collection name its own position. `<import>` reads local files; no other file or URL is opened. A document may
  /// have 8 MiB, elements 256 deep and 256 attributes each, and no DTD of its own.
  ///
  /// Call it before startup only, from the thread that declares. Costs time and memory linear in the document's size.
  ///
  /// - Parameters:
  ///   - data: the document.
  ///   - source: the name of the document in faults; for a file its path, so that imports are found beside it.
  ///   - handlers: the handlers of namespaces for this load only.
  ///   - resolver: finds imported documents; local files, if not given.
  ///   - placeholders: the separator of a default in the texts of Spring's elements, in all documents of the load.
  ///   - file: the file of the call, which a `.frozen` error names.
  ///   - line: the line of the call.
  /// - Throws: `.invalidXML` for a document that is malformed or does not follow the syntax, `.unknownClass` for a
  ///   class that does not exist, each with file, line and column; several faults as one `.invalidXML` that contains
  ///   them all; `.frozen` once the environment has started; the errors of `resolver`.
  @discardableResult
  public func loadXML(
    _ data: Data, source: String = "XML", handlers: [NamespaceHandler] = [],
    resolver: @escaping XMLResource.Resolver = XMLResource.localFile, placeholders: XMLPlaceholders = .standard,
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    let origin = EnvironmentError.Origin(file: "\(file)", line: Int(line))
    try XMLEnvironmentLoader(self, calledAt: origin, handlers, resolver, placeholders).load(
      XMLResource(data: data, source: source))
    return self
  }

  /// Loads a document from a file.
  ///
  /// - Parameters:
  ///   - path: the path of the file, which faults name. Imports are found beside it.
  ///   - handlers: the handlers of namespaces for this load only.
  ///   - resolver: finds imported documents; local files, if not given.
  ///   - placeholders: the separator of a default in the texts of Spring's elements, in all documents of the load.
  ///   - file: the file of the call, which a `.frozen` error names.
  ///   - line: the line of the call.
  /// - Throws: the errors of `loadXML(_:source:handlers:)`, and `.invalidXML` where the file does not exist.
  @discardableResult
  public func loadXML(
    path: String, handlers: [NamespaceHandler] = [],
    resolver: @escaping XMLResource.Resolver = XMLResource.localFile, placeholders: XMLPlaceholders = .standard,
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    let origin = EnvironmentError.Origin(file: "\(file)", line: Int(line))
    try XMLEnvironmentLoader(self, calledAt: origin, handlers, resolver, placeholders).load(
      XMLResource.localFile(path, importedBy: ""))
    return self
  }
}
