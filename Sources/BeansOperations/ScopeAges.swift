import Beans
import BeansServer

/// The ages of the live environments of one scope. Measured only for environments that are bound to a loop.
struct ScopeAges: Sendable {
  private(set) var oldest: Duration?
  /// The longest idle time among environments that are not in use.
  private(set) var longestIdle: Duration?

  /// Adds one of the environments of the scope.
  mutating func add(_ child: Environment, _ scope: LoopScope, at now: UInt64) {
    if let age = scope.age(at: now) { oldest = max(oldest ?? age, age) }
    if !child.isInUse, let lastUse = scope.lastUseIfMeasured {
      let idle = Duration.nanoseconds(Int64(clamping: now - min(lastUse, now)))
      longestIdle = max(longestIdle ?? idle, idle)
    }
  }
}
