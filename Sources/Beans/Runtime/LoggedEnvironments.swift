import BeansLogging

/// An environment in which a thread writes log entries, and its metadata.
struct LoggedEnvironment {
  private let environment: Environment

  init(_ environment: Environment) { self.environment = environment }

  /// The metadata of the environments in which the calling thread works: those of the task, then the innermost one whose
  /// beans the thread creates or releases.
  static var metadata: LogMetadata {
    var metadata = LogMetadata()
    let (current, releasing) = (Environment.current, Environment.releasing)
    if let current { LoggedEnvironment(current).add(to: &metadata) }
    if let releasing, releasing !== current { LoggedEnvironment(releasing).add(to: &metadata) }
    var next = ResolutionContext.innermost
    while let context = next {
      let innermost = LoggedEnvironment(context.value.environment.object)
      if innermost.hasMetadata {
        if innermost.environment !== current { innermost.add(to: &metadata) }
        break
      }
      next = context.value.outer
    }
    return metadata
  }

  /// The metadata of the environment and of those further out, for an entry about it.
  var metadata: LogMetadata {
    var metadata = LogMetadata()
    add(to: &metadata)
    return metadata
  }

  /// Whether the environment or one further out contributes metadata.
  private var hasMetadata: Bool { environment.core.plan?.with { $0.hasLogMetadata } ?? false }

  /// Adds the metadata of the environment and of those further out, outermost first.
  private func add(to metadata: inout LogMetadata) {
    guard hasMetadata else { return }
    if let parent = environment.parent { LoggedEnvironment(parent).add(to: &metadata) }
    guard let own = environment.core.plan?.with({ $0.childMetadata }), !own.isEmpty else { return }
    merge(own, into: &metadata)
  }

  private func merge(_ own: ChildMetadata, into metadata: inout LogMetadata) {
    guard environment.core.plan?.with({ $0.hasSeed }) == true else { return own.merge(into: &metadata, seed: nil) }
    // An environment that has ended contributes nothing.
    guard let seed = readSeed({ $0.content.object.retain() }) else { return }
    defer { seed.release() }
    own.merge(into: &metadata, seed: seed.object)
  }

  /// Releases a seed that threads may read for log entries at any time.
  @inline(never)
  func releaseSeed() { readSeed { $0.store(.empty) }?.release() }

  /// Returns the seed if the environment still has it, after a use of its slot under the lock.
  private func readSeed(_ body: (Slot) -> Void) -> ObjectReference? {
    environment.core.lock.withLock {
      let slot = environment.core.slots[0]
      let content = slot.content
      guard content.isFilled else { return nil }
      body(slot)
      return content.object
    }
  }
}
