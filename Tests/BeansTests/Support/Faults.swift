import Testing

@testable import Beans

/// The code of what `body` throws; nil where it throws nothing.
func code<R>(_ body: () throws -> R) -> EnvironmentError.Code? {
  do {
    _ = try body()
    return nil
  } catch { return (error as? EnvironmentError)?.code }
}

/// All faults of a startup, one or several.
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
