import Beans
import Testing

/// The error that a test's factories and callbacks throw.
struct Boom: Error, Equatable {
  var name = "boom"
}

/// Returns the error that `body` throws; fails the test if it throws none, another kind, or another error than expected.
///
/// - Parameters:
///   - codes: the codes that the error may have; none for any.
///   - message: texts that its message contains, such as the property and what to do.
///   - description: texts that its description contains.
///   - names: beans that its path passes.
///   - path: the whole path.
///   - causes: the errors that factories threw.
///   - line: the line of its origin, in the file of the test.
///   - file: the file of its origin.
///   - sourceLocation: the place of the expectation.
///   - body: the call that throws.
@discardableResult
func requireFault<R>(
  _ codes: EnvironmentError.Code..., message: String..., description: String..., through names: String...,
  path: [String]? = nil, causes: [Boom]? = nil, line: Int? = nil, file: String = #fileID,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> R
) throws -> EnvironmentError {
  let fault = try #require(throws: EnvironmentError.self, sourceLocation: sourceLocation) { _ = try body() }
  #expect(codes.isEmpty || codes.contains(fault.code), "\(fault)", sourceLocation: sourceLocation)
  for text in message { #expect(fault.message.contains(text), "\(fault)", sourceLocation: sourceLocation) }
  for text in description { #expect(fault.description.contains(text), sourceLocation: sourceLocation) }
  for name in names { #expect(fault.passes(name), "\(fault)", sourceLocation: sourceLocation) }
  if let path { #expect(fault.path == path, "\(fault)", sourceLocation: sourceLocation) }
  if let causes { #expect(fault.causes == causes, "\(fault)", sourceLocation: sourceLocation) }
  if let line { #expect(fault.isFrom(file: file, line: line), "\(fault)", sourceLocation: sourceLocation) }
  return fault
}

/// Returns the error that `body` throws, as `requireFault` does.
@discardableResult
func requireAwaitedFault<R>(
  _ codes: EnvironmentError.Code..., message: String..., path: [String]? = nil, causes: [Boom]? = nil,
  isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws -> R
) async throws -> EnvironmentError {
  var thrown: (any Error)?
  do { _ = try await body() } catch { thrown = error }
  let fault = try requireFault(path: path, causes: causes, sourceLocation: sourceLocation) {
    if let thrown { throw thrown }
  }
  #expect(codes.isEmpty || codes.contains(fault.code), "\(fault)", sourceLocation: sourceLocation)
  for text in message { #expect(fault.message.contains(text), "\(fault)", sourceLocation: sourceLocation) }
  return fault
}

/// Returns the code of the error that `body` throws; nil if it throws none.
func code<R>(_ body: () throws -> R) -> EnvironmentError.Code? {
  do {
    _ = try body()
    return nil
  } catch { return (error as? EnvironmentError)?.code }
}

/// Returns all faults of a startup; none if it succeeds.
func faults(of environment: Environment) -> [EnvironmentError] {
  do {
    try environment.startup()
    return []
  } catch let error as EnvironmentError {
    return error.code == .startupFailed ? error.underlying.compactMap { $0 as? EnvironmentError } : [error]
  } catch {
    Issue.record("\(error) is no EnvironmentError")
    return []
  }
}

/// Returns all faults that `startup()` reports, one or several.
func startupFaults(
  of environment: Environment, sourceLocation: SourceLocation = #_sourceLocation
) throws -> [EnvironmentError] {
  let fault = try requireFault(sourceLocation: sourceLocation) { try environment.startup() }
  guard fault.code == .startupFailed else { return [fault] }
  return try fault.underlying.map { try #require($0 as? EnvironmentError, sourceLocation: sourceLocation) }
}

extension EnvironmentError {
  /// The errors that factories threw, through any number of wrappers.
  var causes: [Boom] {
    underlying.flatMap { error -> [Boom] in
      if let boom = error as? Boom { return [boom] }
      return (error as? EnvironmentError)?.causes ?? []
    }
  }

  /// Returns whether one element of the path names `name`.
  func passes(_ name: String) -> Bool {
    path.contains { $0.contains(name) }
  }

  func isFrom(file: String, line: Int) -> Bool {
    origin?.file == file && origin?.line == line
  }
}
