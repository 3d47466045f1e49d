import Synchronization

extension Environment {
  /// What is declared here, in order of definition, and what lives below, as text for people.
  ///
  /// A line for each bean: its type, id, scope, and whether it is lazy, abstract or primary; with `traceOrigin`, where it
  /// was declared. Then the active profiles that no declaration names, and the beans, of factories' children, too, that several threads share although the compiler does not know
  /// their type to be `Sendable`, with the places of their declarations. From any thread; walks the whole tree.
  public func report() -> String { report(maximumChildren: .max) }

  /// What `report()` tells, with at most so many children of each environment, and the number of those left out.
  ///
  /// For services whose sessions are many. From any thread; takes time for what it tells, however many are left out.
  public func report(maximumChildren: Int) -> String {
    var lines = ["### ENVIRONMENT \(name) REPORT"]
    let traceOrigin = existingExtras?.resources?.traceOrigin == true
    for (text, location) in listing {
      lines.append("- \(text)\(traceOrigin ? " origin: \(location.origin)" : "")")
    }
    for reason in existingExtras?.resources?.inactiveFactories ?? [] {
      let origin = traceOrigin ? reason.origin : nil
      lines.append("- \(reason.message)\(origin.map { " origin: \($0)" } ?? "")")
    }
    lines += existingExtras?.resources?.unnamedProfiles ?? []
    let shared = core.plan?.object.sharedBeans ?? []
    if !shared.isEmpty { lines += ["", "shared by threads, and not known to be Sendable:"] }
    for bean in shared { lines.append("- \(bean.text) origin: \(bean.location.origin)") }
    lines.append("")
    appendTree(&lines, indent: "", max(0, maximumChildren))
    return lines.joined(separator: "\n") + "\n"
  }

  /// What was declared, in order.
  private var listing: [(text: String, location: SourceLocation)] {
    guard let plan = core.plan?.object else {
      let declarations = existingExtras?.resources?.declarations
      return (declarations?.specs ?? []).map { ($0.text(declarations?.scopeName), $0.location) }
    }
    var templates = plan.templates[...]
    return plan.listed.compactMap { number in
      if number < 0 { return templates.popFirst() }
      let entry = plan.directory.entries[Int(number)]
      return (entry.text, entry.location)
    }
  }

  private func appendTree(_ lines: inout [String], indent: String, _ maximumChildren: Int) {
    let lifecycle = core.lifecycle
    let phase =
      switch lifecycle.phase {
      case _ where lifecycle.isFailed: "failed"
      case .open: "open"
      case .declaring, .starting: "not started"
      case .closed, .finishing, .releasing: "finishing"
      case .released: "finished"
      }
    lines.append("\(indent)\(name): \(phase), \(core.lock.withLock { createdBeans } - faceCount) beans")
    guard let extras = existingExtras else { return }
    let (children, count) = core.lock.withLock { (extras.children.first(maximumChildren), extras.children.count) }
    for child in children { child.appendTree(&lines, indent: indent + "  ", maximumChildren) }
    if count > children.count { lines.append("\(indent)  and \(count - children.count) more") }
  }

  /// Counts for each scope: this environment and all that were opened below it so far, live or not, wherever in the tree.
  ///
  /// Walks the live children; for reports. From any thread.
  public func statistics() -> [ScopeStatistics] {
    guard let extras = existingExtras else { return [ownStatistics] }
    let (live, ended) = core.lock.withLock { (extras.children.all, extras.children.statistics) }
    return ScopeStatistics.merged([ownStatistics] + ended + live.flatMap { $0.statistics() })
  }

  /// As `statistics()`, from counts that are kept while environments come and go: takes the same time however many are live.
  ///
  /// Beans that live children of factories have created are not among them; see `forEachLive`. Nil in a child of a factory.
  package var keptStatistics: [ScopeStatistics]? {
    countsBelow.map { ScopeStatistics.merged([ownStatistics] + $0) }
  }

  /// How many siblings are taken from an environment at a time, while their comings and goings wait.
  private static var slice: Int { 512 }

  /// Calls `body` with each live environment below, and with how many beans it has created that `keptStatistics` does not count.
  ///
  /// Holds no lock for longer than a few hundred siblings. Meets none twice, and may miss those that join meanwhile. From any
  /// thread.
  ///
  /// - Parameters:
  ///   - maximum: how many are looked at; taken off.
  ///   - body: called outside of all locks.
  /// - Returns: false where some were left out: beyond the maximum, or because a whole slice of siblings ended meanwhile.
  package func forEachLive(upTo maximum: inout Int, _ body: (Environment, Int) -> Void) -> Bool {
    guard let children = existingExtras?.children, !children.isEmpty else { return true }
    var isComplete = true
    for list in children.listNumbers {
      var last: [Environment] = []
      repeat {
        var next: [Environment] = []
        next.reserveCapacity(min(Self.slice, max(0, core.lock.withLock { children.count })))
        guard core.lock.withLock({ children.read(&next, of: list, after: last) }) else {
          isComplete = false
          break
        }
        for child in next {
          if maximum <= 0 { return false }
          maximum -= 1
          body(child, child.isPlain ? 0 : child.core.lock.withLock { child.createdBeans } - child.faceCount)
          isComplete = child.forEachLive(upTo: &maximum, body) && isComplete
        }
        last = next
      } while !last.isEmpty
    }
    return isComplete
  }

  private var isPlain: Bool { core.kind.contains(.plain) }

  /// Beans in the order in which this environment's startup has built them, with how long each took.
  ///
  /// Empty unless the startup was given `.recordTimes`, and for children of factories. From any thread.
  public var startupTimes: [StartupTime] { existingExtras?.resources?.record?.times ?? [] }

  /// How long the startup took, until all that is awaited by `ready()` was there. Nil unless it was given `.recordTimes`.
  public var startupDuration: Duration? { existingExtras?.resources?.record?.duration }

  /// Releases that have failed here and below so far; 0 for children of factories.
  package var failedReleases: Int { existingExtras?.resources?.failedReleases.load(ordering: .relaxed) ?? 0 }

  /// Whether lookups find every bean that is not lazy: startup is over, and no end has begun.
  package var isReady: Bool { core.lifecycle.isOpen && existingExtras?.resources?.unready.isEmpty != false }

  /// Other ids of beans, by the ids of their environments (as `graph()` names them) and then their own.
  package var aliases: [String: [String: [String]]] {
    guard let plan = core.plan?.object else { return [:] }
    var aliases: [String: [String: [String]]] = [:]
    for directory in Array(sequence(first: plan.directory) { $0.parent }) + plan.below {
      for alias in directory.aliases where !alias.hasPrefix("&") {
        guard let bean = try? directory.bean(id: alias, hasHints: false), let id = bean.entry.id else { continue }
        let path = sequence(first: bean.directory) { $0.parent }.map(\.name).reversed().joined(separator: "/")
        aliases[path, default: [:]][id, default: []].append(alias)
      }
    }
    return aliases
  }
}
