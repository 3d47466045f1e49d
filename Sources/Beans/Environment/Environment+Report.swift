import Synchronization

extension Environment {
  /// Returns the declarations here, in order of definition, and the live environments below, as text for people.
  ///
  /// Contains a line for each bean: its type, id and scope, and whether it is lazy, abstract or primary; with
  /// `traceOrigin`, also the place of its declaration. Then the active profiles that no declaration names, and the
  /// beans, also of factories' children, that several threads share although their type is not statically `Sendable`,
  /// with the places of their declarations; the optional parameters that no bean satisfies; several beans of one type of
  /// which a lookup by type finds none; the beans that run and that no call has started. Safe to call from any thread;
  /// walks the whole tree. The first call after startup compiles the declarations once more, as `graph()` does.
  public func report() -> String { report(maximumChildren: .max) }

  /// Returns the text of `report()` with a maximum number of children for each environment, and the number of the
  /// children left out.
  ///
  /// For services with many sessions. Safe to call from any thread; the cost depends on the environments in the text,
  /// not on those left out.
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
    if let remarks {
      if !remarks.absent.isEmpty { lines += ["", "taken where there is one, and not declared:"] }
      lines += remarks.absent.map { "- \($0)" }
      if !remarks.ambiguous.isEmpty { lines += ["", "ambiguous in a lookup by type, and taken by no bean:"] }
      lines += remarks.ambiguous.map { "- \($0)" }
      if !remarks.unopened.isEmpty { lines += ["", "of a scope that no factory here opens:"] }
      lines += remarks.unopened.map { "- \($0)" }
    }
    let idle = idleRuns
    if !idle.isEmpty { lines += ["", "not running, since neither run() nor a ServerLifecycle has been called:"] }
    for label in idle { lines.append("- \(label)") }
    lines.append("")
    appendTree(&lines, indent: "", max(0, maximumChildren))
    return lines.joined(separator: "\n") + "\n"
  }

  /// The remarks on the declarations here and for the children of factories; nil before startup, after the end, and in
  /// the child of a factory. Compiled as `graph()` is, once.
  private var remarks: DeclarationRemarks? {
    guard let resources = existingExtras?.resources, core.lifecycle.isOpen else { return nil }
    if let known = resources.remarks.load() { return known }
    guard let outline = try? outlineDeclarations() else { return nil }
    return resources.remarks.storeIfNil(DeclarationRemarks(outline))
  }

  /// The declarations, in order.
  private var listing: [(text: String, location: SourceLocation)] {
    guard let plan = core.plan?.object else {
      let declarations = existingExtras?.resources?.declarations
      return (declarations?.specs ?? []).map { ($0.value.text(declarations?.scopeName), $0.location) }
    }
    var templates = plan.report.templates[...]
    return plan.report.listed.compactMap { number in
      if number < 0 { return templates.popFirst() }
      let bean = plan.directory.beans[Int(number)]
      return (bean.text, bean.location)
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

  /// Returns counts for each scope: this environment and all that have been opened below it so far, live or not,
  /// anywhere in the tree.
  ///
  /// Walks the live children; for reports. Safe to call from any thread.
  public func statistics() -> [ScopeStatistics] {
    guard let extras = existingExtras else { return [ownStatistics] }
    let (live, ended) = core.lock.withLock { (extras.children.all, extras.children.statistics) }
    return ScopeStatistics.merged([ownStatistics] + ended + live.flatMap { $0.statistics() })
  }

  /// The counts of `statistics()`, maintained while environments open and end: the cost does not depend on how many are
  /// live.
  ///
  /// Excludes the beans that live children of factories have created; see `forEachLive`. Nil in a child of a factory.
  package var keptStatistics: [ScopeStatistics]? {
    countsBelow.map { ScopeStatistics.merged([ownStatistics] + $0) }
  }

  /// The number of siblings read at a time, while the environment's lock delays others that open or end.
  private static var slice: Int { 512 }

  /// Calls `body` with each live environment below, and with the number of its created beans that `keptStatistics`
  /// excludes.
  ///
  /// Holds a lock for a few hundred siblings at a time. Visits no environment twice, and may miss those that open
  /// meanwhile. Safe to call from any thread.
  ///
  /// - Parameters:
  ///   - maximum: the number of environments to visit; reduced by each visit.
  ///   - body: called outside of all locks.
  /// - Returns: false if some were left out: beyond the maximum, or because a whole slice of siblings ended meanwhile.
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

  /// The beans that this environment's startup built, in order, each with its duration.
  ///
  /// Empty without the startup option `.recordTimes`, and for children of factories. Safe to read from any thread.
  public var startupTimes: [StartupTime] { existingExtras?.resources?.record?.times ?? [] }

  /// The duration of the startup, including the beans that `ready()` awaits. Nil without the startup option
  /// `.recordTimes`.
  public var startupDuration: Duration? { existingExtras?.resources?.record?.duration }

  /// The number of failed releases here and below so far; 0 for children of factories.
  package var failedReleases: Int { existingExtras?.resources?.failedReleases.load(ordering: .relaxed) ?? 0 }

  /// Whether the environment serves: startup has ended, lookups find every bean that is not lazy, and no end has begun,
  /// neither of the environment nor of its runs.
  package var isReady: Bool {
    guard core.lifecycle.isOpen else { return false }
    guard let extras = existingExtras else { return true }
    return extras.resources?.unready.isEmpty != false && extras.existingWorks?.runner?.isEnding != true
  }

  /// The aliases of beans, by the path of their environment (as in `graph()`) and then by the bean's own id.
  package var aliases: [String: [String: [String]]] {
    guard let plan = core.plan?.object else { return [:] }
    var aliases = [String: [String: [String]]]()
    for directory in Array(sequence(first: plan.directory) { $0.parent }) + plan.below {
      for alias in directory.aliases where !alias.hasPrefix("&") {
        guard let bean = try? directory.bean(id: alias, hasHints: false), let id = bean.definition.id else { continue }
        let path = sequence(first: bean.directory) { $0.parent }.map(\.name).reversed().joined(separator: "/")
        aliases[path, default: [:]][id, default: []].append(alias)
      }
    }
    return aliases
  }
}
