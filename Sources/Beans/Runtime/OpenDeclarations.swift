/// The declarations of an environment, as long as it accepts more of them.
extension Environment {
  /// Returns the declarations while they are open. Throws `.frozen`, or the error of startup; `subject` and `origin`
  /// describe the late declaration.
  func declarations(
    _ what: String, _ subject: @autoclosure () -> String? = nil,
    at origin: @autoclosure () -> EnvironmentError.Origin? = nil
  ) throws -> EnvironmentDeclarations {
    let resources = core.extras?.with { $0.resources }
    if core.lifecycle.phase == .declaring, let declarations = resources?.openDeclarations { return declarations }
    if let failure = resources?.failure { throw failure }
    throw EnvironmentError(
      .frozen,
      "\(what): environment '\(name)' has started, its declarations are closed: declare before startup() and before "
        + "the first lookup", path: ["'\(name)'"] + (subject().map { [$0] } ?? []), origin: origin())
  }

  /// Throws once declarations are closed.
  package func checkDeclaring(
    _ what: String, _ subject: String? = nil, at origin: EnvironmentError.Origin? = nil
  ) throws {
    _ = try declarations(what, subject, at: origin)
  }

  /// Returns the declarations, before startup or after it. Waits for a startup that another thread has begun.
  func knownDeclarations(_ resources: EnvironmentResources) throws -> EnvironmentDeclarations {
    while true {
      if !core.kind.contains(.template), let known = resources.knownDeclarations { return known }
      if core.lifecycle.isEnding { throw finishedError() }
      // Another thread starts the environment.
      try startIfNeeded()
    }
  }

  /// The declarations of the nearest environment, here or further out, that is not a child of a factory.
  var nearestDeclarations: EnvironmentDeclarations? {
    let resources = sequence(first: self, next: \.parent).lazy.compactMap(\.existingExtras?.resources).first
    return resources?.knownDeclarations
  }

  /// The name of the module whose `configure` is running.
  var declaringModule: String? { existingExtras?.resources?.openDeclarations?.module?.name }
}
