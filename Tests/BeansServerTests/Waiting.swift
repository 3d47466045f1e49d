import Beans
import TestSupport

extension Environment {
  /// Waits until something else has ended this environment and everything is released.
  func waitForEnd() throws {
    let end = Gate("end of '\(name)'")
    whenFinished { end.open() }
    try end.wait()
  }
}
