extension Environment {
  /// What is declared here, in order of definition, and what lives below, as text for people.
  ///
  /// A line per bean: its type, id, scope, and whether it is lazy, abstract or primary; with `traceOrigin`, where it was
  /// declared. From any thread; walks the whole tree.
  public func report() -> String {
    var lines = ["### ENVIRONMENT \(name) REPORT"]
    let traceOrigin = header.setup?.traceOrigin == true
    for (declaration, definition) in plan.declared {
      lines.append("- \(describe(declaration, definition))\(traceOrigin ? " origin: \(declaration.origin)" : "")")
    }
    lines.append("")
    appendTree(&lines, indent: "")
    return lines.joined(separator: "\n") + "\n"
  }

  private func describe(_ declaration: BeanDeclaration, _ definition: Definition?) -> String {
    var words = [(definition?.type ?? declaration.type).map { "\($0)" } ?? "template"]
    if let id = declaration.id { words.append("\"\(id)\"") }
    if let maker = definition?.maker { words.append("factory: \(maker.type)") }
    if definition?.isLazy ?? declaration.isLazy ?? false { words.append("lazy: true") }
    if declaration.isAbstract { words.append("abstract: true") }
    if declaration.isPrimary { words.append("primary: true") }
    let scope = definition?.scopeName ?? declaration.scopeName ?? plan.scopeName ?? "singleton"
    if scope != "singleton" { words.append("scope: \(scope)") }
    return words.joined(separator: " ")
  }

  private func appendTree(_ lines: inout [String], indent: String) {
    let state = state
    let phase =
      state & State.failed != 0
      ? "failed"
      : isReleased
        ? "finished"
        : state & State.finishing != 0 ? "finishing" : state & State.unstarted != 0 ? "not started" : "open"
    lines.append("\(indent)\(name): \(phase), \(createdBeans) beans")
    for child in existingSide?.children.all ?? [] { child.appendTree(&lines, indent: indent + "  ") }
  }
}
