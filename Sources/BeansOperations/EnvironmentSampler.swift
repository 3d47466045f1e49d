import Beans
@_spi(BeansPackage) import BeansErrors
import BeansServer
import Dispatch

/// The figures of an environment and its descendants: counts that the container maintains, and a sample of the live
/// ones.
final class EnvironmentSampler: Sendable {
  private let environment: Environment
  private let sampled: Sampled<Sample>
  /// The number of beans created, by scope, in the last report. Live ones are known from a sample, and the sum must
  /// never decrease.
  private let told = Locked<[String: Int]>([:])

  private struct Sample: Sendable {
    var ages: [String: ScopeAges] = [:]
    /// The number of beans created, by scope: those of environments that had ended when the sample began, and those of
    /// the sampled environments.
    var created: [String: Int] = [:]
  }

  /// Creates a sampler.
  ///
  /// - Parameters:
  ///   - environment: the root of the sampled environments.
  ///   - queue: the queue on which many environments are sampled.
  init(_ environment: Environment, on queue: DispatchQueue) {
    self.environment = environment
    sampled = Sampled(on: queue) { maximum in
      var sample = Sample()
      for counts in environment.keptStatistics ?? [] { sample.created[counts.scope] = counts.created }
      let (now, isKept) = (LoopScope.now, !sample.created.isEmpty)
      var rest = maximum
      let isComplete = environment.forEachLive(upTo: &rest) { child, beans in
        if isKept { sample.created[child.name, default: 0] += beans }
        if let scope = child.host as? LoopScope {
          sample.ages[child.name, default: ScopeAges()].add(child, scope, at: now)
        }
      }
      return (sample, isComplete)
    }
  }

  /// Returns counts by scope, and the ages of the live environments of each scope.
  ///
  /// The numbers of opened and finished environments and of released beans are exact. If more environments are live
  /// than a slice, the numbers of created beans and the ages are those of the last sample.
  func report() -> (scopes: [ScopeStatistics], ages: [String: ScopeAges]) {
    // The container maintains no separate counts for the descendants of a factory's child.
    guard var scopes = environment.keptStatistics else {
      return (environment.statistics(), sampled.figures(areMany: false).ages)
    }
    let live = scopes.reduce(0) { $0 + $1.open }
    let sample = sampled.figures(areMany: live > Sampled<Sample>.slice)
    told.withLock { told in
      for index in scopes.indices {
        let scope = scopes[index].scope
        scopes[index].created = max(scopes[index].created, sample.created[scope] ?? 0, told[scope] ?? 0)
        told[scope] = scopes[index].created
      }
    }
    return (scopes, sample.ages)
  }
}
