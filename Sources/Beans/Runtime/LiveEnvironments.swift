/// The environments that exist below one, and their counts.
struct LiveEnvironments {
  private let environment: Environment

  init(below environment: Environment) { self.environment = environment }

  /// The counts of the environment and of all that have been opened below it, by scope. Walks the live children.
  var statistics: [ScopeStatistics] {
    guard let extras = environment.existingExtras else { return [environment.ownStatistics] }
    let (live, ended) = environment.core.lock.withLock { (extras.children.all, extras.children.statistics) }
    let below = live.flatMap { LiveEnvironments(below: $0).statistics }
    return ScopeStatistics.merged([environment.ownStatistics] + ended + below)
  }

  /// The number of siblings read at a time, while the environment's lock delays others that open or end.
  private static let slice = 512

  /// Calls `body` with each live environment below, and with the number of its created beans that `keptStatistics`
  /// excludes; see `Environment.forEachLive`.
  func forEach(upTo maximum: inout Int, _ body: (Environment, Int) -> Void) -> Bool {
    guard let children = environment.existingExtras?.children, !children.isEmpty else { return true }
    var isComplete = true
    for list in children.listNumbers {
      var last: [Environment] = []
      repeat {
        var next: [Environment] = []
        next.reserveCapacity(min(Self.slice, max(0, environment.core.lock.withLock { children.count })))
        guard environment.core.lock.withLock({ children.read(&next, of: list, after: last) }) else {
          isComplete = false
          break
        }
        for child in next {
          if maximum <= 0 { return false }
          maximum -= 1
          var created = 0
          if child.resources == nil { created = child.beanCount }
          body(child, created)
          isComplete = LiveEnvironments(below: child).forEach(upTo: &maximum, body) && isComplete
        }
        last = next
      } while !last.isEmpty
    }
    return isComplete
  }
}
