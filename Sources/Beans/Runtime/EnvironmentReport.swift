import Synchronization

/// The report of one environment, for people.
struct EnvironmentReport {
  private let environment: Environment
  private let resources: EnvironmentResources?

  init(_ environment: Environment) {
    self.environment = environment
    resources = environment.existingExtras?.resources
  }

  /// Returns the declarations, remarks on them, and the live environments with a maximum number of children for each.
  func text(maximumChildren: Int) -> String {
    let remarks = remarks
    let sections = [
      section("shared by threads, and not known to be Sendable:", sharedBeans),
      section("taken where there is one, and not declared:", remarks?.absent ?? []),
      section("ambiguous in a lookup by type, and taken by no bean:", remarks?.ambiguous ?? []),
      section("of a scope that no factory here opens:", remarks?.unopened ?? []),
      section(
        "not running, since neither run() nor a ServerLifecycle has been called:", RunningBeans(of: environment).idle),
    ]
    let head = ["### ENVIRONMENT \(environment.name) REPORT"]
    var lines = head + declarations + inactiveFactories + (resources?.unnamedProfiles ?? []) + sections.joined() + [""]
    Self.append(environment, to: &lines, indent: "", max(0, maximumChildren))
    return lines.joined(separator: "\n") + "\n"
  }

  private func section(_ title: String, _ entries: [String]) -> [String] {
    if entries.isEmpty { [] } else { ["", title] + entries.map { "- \($0)" } }
  }

  /// A line for each declaration, in order.
  private var declarations: [String] {
    listing.map { text, location in "- \(text)\(place(location.origin))" }
  }

  private var inactiveFactories: [String] {
    (resources?.inactiveFactories ?? []).map { "- \($0.message)\($0.origin.map(place) ?? "")" }
  }

  /// Returns the place of a declaration, where the environment traces them.
  private func place(_ origin: EnvironmentError.Origin) -> String {
    if resources?.traceOrigin == true { " origin: \(origin)" } else { "" }
  }

  private var sharedBeans: [String] {
    (environment.core.plan?.object.sharedBeans ?? []).map { "\($0.text) origin: \($0.location.origin)" }
  }

  /// The declarations, in order.
  private var listing: [(text: String, location: SourceLocation)] {
    guard let plan = environment.core.plan?.object else {
      let declarations = resources?.declarations
      return (declarations?.specs ?? []).map { ($0.value.text(declarations?.scopeName), $0.location) }
    }
    var templates = plan.report.templates[...]
    return plan.report.listed.compactMap { number in
      if number < 0 { return templates.popFirst() }
      let bean = plan.directory.beans[Int(number)]
      return (bean.text, bean.location)
    }
  }

  /// The remarks on the declarations here and for the children of factories; nil before startup, after the end, and in
  /// the child of a factory. Compiled as `graph()` is, once.
  private var remarks: DeclarationRemarks? {
    guard let resources, environment.core.lifecycle.isOpen else { return nil }
    if let known = resources.remarks.load() { return known }
    guard let levels = try? DeclarationLevel.all(around: environment) else { return nil }
    return resources.remarks.storeIfNil(DeclarationRemarks(levels))
  }

  private static func append(_ environment: Environment, to lines: inout [String], indent: String, _ maximum: Int) {
    let lifecycle = environment.core.lifecycle
    let phase =
      switch lifecycle.phase {
      case _ where lifecycle.isFailed: "failed"
      case .open: "open"
      case .declaring, .starting: "not started"
      case .closed, .finishing, .releasing: "finishing"
      case .released: "finished"
      }
    lines.append("\(indent)\(environment.name): \(phase), \(environment.beanCount) beans")
    guard let extras = environment.existingExtras else { return }
    let (children, count) = environment.core.lock.withLock {
      (extras.children.first(maximum), extras.children.count)
    }
    for child in children { append(child, to: &lines, indent: indent + "  ", maximum) }
    if count > children.count { lines.append("\(indent)  and \(count - children.count) more") }
  }

  /// The aliases of beans, by the path of their environment and then by the bean's own id.
  var aliases: [String: [String: [String]]] {
    guard let plan = environment.core.plan?.object else { return [:] }
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
