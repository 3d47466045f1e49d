import Beans
import BeansServer

/// How old the live environments of one scope are, as far as that is measured: those whose end belongs to a loop.
struct ScopeAges: Sendable {
  private(set) var oldest: Duration?
  /// Among environments that nobody is inside of.
  private(set) var longestIdle: Duration?

  /// Takes in one of the environments of the scope.
  mutating func add(_ child: Environment, _ scope: LoopScope, at now: UInt64) {
    if let age = scope.age(at: now) { oldest = max(oldest ?? age, age) }
    if !child.isInUse, let lastUse = scope.lastUseIfMeasured {
      let idle = Duration.nanoseconds(Int64(clamping: now - min(lastUse, now)))
      longestIdle = max(longestIdle ?? idle, idle)
    }
  }
}
