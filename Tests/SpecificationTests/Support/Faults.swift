import Beans
import Testing

/// What a test's factories and callbacks throw.
struct Boom: Error, Equatable {
  var name = "boom"
}

/// The error that `body` throws; fails the test when it throws none, another kind, or another code.
@discardableResult
func requireFault<R>(
  _ codes: EnvironmentError.Code..., sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> R
) throws -> EnvironmentError {
  let fault = try #require(throws: EnvironmentError.self, sourceLocation: sourceLocation) { _ = try body() }
  #expect(codes.isEmpty || codes.contains(fault.code), "\(fault)", sourceLocation: sourceLocation)
  return fault
}

/// The code of what `body` throws; nil where it throws nothing.
func code<R>(_ body: () throws -> R) -> EnvironmentError.Code? {
  do {
    _ = try body()
    return nil
  } catch { return (error as? EnvironmentError)?.code }
}

/// All faults of a startup; none where it succeeds.
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

/// All faults that `startup()` reports, one or several.
func startupFaults(
  of environment: Environment, sourceLocation: SourceLocation = #_sourceLocation
) throws -> [EnvironmentError] {
  let fault = try requireFault(sourceLocation: sourceLocation) { try environment.startup() }
  guard fault.code == .startupFailed else { return [fault] }
  return try fault.underlying.map { try #require($0 as? EnvironmentError, sourceLocation: sourceLocation) }
}

extension EnvironmentError {
  /// What a factory threw, through however many wrappers.
  var causes: [Boom] {
    underlying.flatMap { error -> [Boom] in
      if let boom = error as? Boom { return [boom] }
      return (error as? EnvironmentError)?.causes ?? []
    }
  }

  /// Whether one element of the path speaks of `name`.
  func passes(_ name: String) -> Bool {
    path.contains { $0.contains(name) }
  }

  func isFrom(file: String, line: Int) -> Bool {
    origin?.file == file && origin?.line == line
  }
}
