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
  /// For services whose sessions are many. From any thread; takes time for what it tells, and a moment for each child of an
  /// environment on the way.
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
    lines.append("\(indent)\(name): \(phase), \(core.lock.withLock { createdBeans }) beans")
    let children = liveChildren
    for child in children.prefix(maximumChildren) { child.appendTree(&lines, indent: indent + "  ", maximumChildren) }
    if children.count > maximumChildren { lines.append("\(indent)  and \(children.count - maximumChildren) more") }
  }

  /// Counts for each scope: this environment and all that were opened below it so far, live or not, wherever in the tree.
  ///
  /// Walks the live children; for reports. From any thread.
  public func statistics() -> [ScopeStatistics] {
    var own = ScopeStatistics(scope: name)
    own.opened = 1
    own.finished = isReleased ? 1 : 0
    own.created = core.lock.withLock { createdBeans }
    own.released = existingExtras?.releasedBeans.load(ordering: .relaxed) ?? 0
    guard let extras = existingExtras else { return [own] }
    let (live, ended) = core.lock.withLock { (extras.children.all, extras.children.statistics) }
    return ScopeStatistics.merged([own] + ended + live.flatMap { $0.statistics() })
  }

  /// Calls `body` with each live environment below whose end belongs to somebody else, and with whom. From any thread.
  package func forEachHosted(_ body: (Environment, any HostedScope) -> Void) {
    for child in liveChildren {
      if let host = child.host { body(child, host) }
      child.forEachHosted(body)
    }
  }

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
