import Beans
import BeansServer
import Dispatch
@_spi(BeansPackage) import BeansSupport

/// What lives in an environment and below it: counts that the container keeps, and what a sample of the live ones finds.
final class EnvironmentSampler: Sendable {
  private let environment: Environment
  private let sampled: Sampled<Sample>
  /// Beans created, by scope, as told last: live ones are known from a sample, and the sum never goes down.
  private let told = Locked<[String: Int]>([:])

  private struct Sample: Sendable {
    var ages: [String: ScopeAges] = [:]
    /// Beans created, by scope: those of environments that had ended when the sample began, and of those that it has found.
    var created: [String: Int] = [:]
  }

  /// - Parameters:
  ///   - environment: whose environments are looked at.
  ///   - queue: where they are looked at if they are many.
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

  /// Counts by scope, and how old the live environments of a scope are.
  ///
  /// Opened, finished and released are exact. Where more environments are live than a slice, the beans created and the ages are
  /// those of the last sample.
  func report() -> (scopes: [ScopeStatistics], ages: [String: ScopeAges]) {
    // The counts of what is opened in the child of a factory are not kept for it alone.
    guard var scopes = environment.keptStatistics else {
      return (environment.statistics(), sampled.figures(areMany: false).ages)
    }
    let live = scopes.reduce(0) { $0 + $1.opened - $1.finished }
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
