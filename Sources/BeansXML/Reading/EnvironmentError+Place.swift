import Beans
import BeansErrors

extension EnvironmentError {
  /// Returns the failure with another origin, a place in a document.
  func at(_ origin: Origin) -> EnvironmentError {
    with { $0.origin = origin }
  }
}
