import Testing

@testable import Beans

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
