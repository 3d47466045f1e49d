import Beans
import Testing

/// The error that a test's factories and callbacks throw.
struct Boom: Error, Equatable {
  var name = "boom"
}

/// Returns the error that `body` throws; fails the test if it throws none, another kind, or another code.
@discardableResult
func requireFault<R>(
  _ codes: EnvironmentError.Code..., sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> R
) throws -> EnvironmentError {
  let fault = try #require(throws: EnvironmentError.self, sourceLocation: sourceLocation) { _ = try body() }
  #expect(codes.isEmpty || codes.contains(fault.code), "\(fault)", sourceLocation: sourceLocation)
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
