public import Beans
public import Foundation

extension Environment {
  /// Declares what an XML document in Spring's syntax says: all of it, or nothing where anything is wrong with it.
  ///
  /// `<beans>` may have Spring's namespace or none; `xsi:` attributes are tolerated undeclared. Every bean's origin is the
  /// place of its tag, so that faults of startup name it; those of a property, an argument or an element of a collection name
  /// the place of that. `<import>` reads local files; nothing else is opened. A document may have 8 MiB, elements 256 deep
  /// and 256 attributes each, and no DTD of its own.
  ///
  /// Before startup only, from the thread that declares. Costs time and memory linear in the document's size.
  ///
  /// - Parameters:
  ///   - data: the document.
  ///   - source: what the document is called in faults; the path where it is a file, so that imports are found beside it.
  ///   - file: where this is called, as `.frozen` says it.
  ///   - line: where in the file.
  /// - Throws: `.invalidXML` for a document that is malformed or does not follow the syntax, `.unknownClass` for a class
  ///   that does not exist, each with file, line and column; several faults as one `.invalidXML` that holds them all;
  ///   `.frozen` once the environment has started.
  @discardableResult
  public func loadXML(
    _ data: Data, source: String = "XML", file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    try loadXML(data, source: source, handlers: [], file: file, line: line)
  }

  /// Loads a document with handlers for namespaces that this load alone knows, and with another way to find imported documents.
  ///
  /// - Parameters:
  ///   - data: the document.
  ///   - source: what the document is called in faults; the path where it is a file, so that imports are found beside
  ///     it.
  ///   - handlers: for namespaces that this load alone knows.
  ///   - resolver: finds imported documents; local files, if not given.
  ///   - file: where this is called, as `.frozen` says it.
  ///   - line: where in the file.
  /// - Throws: what `loadXML(_:source:)` and `resolver` throw.
  @discardableResult
  public func loadXML(
    _ data: Data, source: String = "XML", handlers: [NamespaceHandler],
    resolver: @escaping XMLResource.Resolver = XMLResource.localFile, file: StaticString = #fileID,
    line: UInt = #line
  ) throws -> Self {
    let origin = EnvironmentError.Origin(file: "\(file)", line: Int(line))
    try XMLEnvironmentLoader(self, calledAt: origin, handlers, resolver).load(
      XMLResource(data: data, source: source))
    return self
  }

  /// Loads a document from a file.
  ///
  /// - Parameters:
  ///   - path: the file, which faults name, and beside which imports are found.
  ///   - handlers: for namespaces that this load alone knows.
  ///   - resolver: finds imported documents; local files, if not given.
  ///   - file: where this is called, as `.frozen` says it.
  ///   - line: where in the file.
  /// - Throws: `.invalidXML` where there is no such file, too.
  @discardableResult
  public func loadXML(
    path: String, handlers: [NamespaceHandler] = [],
    resolver: @escaping XMLResource.Resolver = XMLResource.localFile, file: StaticString = #fileID,
    line: UInt = #line
  ) throws -> Self {
    let origin = EnvironmentError.Origin(file: "\(file)", line: Int(line))
    try XMLEnvironmentLoader(self, calledAt: origin, handlers, resolver).load(
      XMLResource.localFile(path, importedBy: ""))
    return self
  }
}
