/// Builds a bean after its dependencies, one after the other, so that each has a time of its own in the startup record.
struct RecordedBuild {
  private let environment: Environment
  private let record: StartupRecord

  init(in environment: Environment, _ record: StartupRecord) {
    (self.environment, self.record) = (environment, record)
  }

  /// Builds a bean, unless it exists.
  ///
  /// Uses a list, not a recursion: chains of beans may be as long as memory allows.
  func build(_ recipe: FrozenReference<Recipe>) throws {
    var stack: [(recipe: FrozenReference<Recipe>, taker: FrozenReference<Recipe>?)] = [(recipe, nil)]
    while let (next, taker) = stack.last {
      if let needed = unbuilt(for: next) {
        stack.append((needed, next))
      } else {
        stack.removeLast()
        if isUnbuilt(next.value.slot) { try build(next, for: taker) }
      }
    }
  }

  private func isUnbuilt(_ slot: Int32) -> Bool { !environment.core.slots[slot].content.isFilled }

  /// Returns a bean of this environment that another one takes and that does not exist; nil where there is none.
  private func unbuilt(for recipe: FrozenReference<Recipe>) -> FrozenReference<Recipe>? {
    let needs = recipe.value.needs
    for index in 0..<needs.count {
      switch needs[index].place {
      case .own(let slot) where isUnbuilt(slot): return environment.recipe(slot)
      case .outer(let slot) where !slot.content.isFilled:
        if let own = environment.ownSlot(slot) { return environment.recipe(own) }
      case .own, .outer, .counted, .computed: continue
      }
    }
    return nil
  }

  /// Builds a bean whose dependencies exist, and records its time and those of the beans that its factory looks up.
  private func build(_ recipe: FrozenReference<Recipe>, for taker: FrozenReference<Recipe>?) throws {
    let logged = environment.core.lock.withLock { environment.createdBeans }
    let began = ContinuousClock.now
    try environment.bean(recipe.value.slot).release()
    let duration = ContinuousClock.now - began
    let created = environment.core.lock.withLock {
      (logged..<environment.createdBeans).map { environment.creationLog[$0] }
    }
    record.add(
      created.map { built in
        let isOwn = built == recipe.value.slot
        return environment.recipe(built).time(isOwn ? duration : nil, for: isOwn ? taker : recipe)
      })
  }
}

extension FrozenReference<Recipe> {
  /// Returns the entry of a bean in a startup record.
  func time(_ duration: Duration?, for parent: FrozenReference<Recipe>? = nil) -> StartupTime {
    StartupTime(
      bean: value.entry.label, origin: value.entry.location.origin, duration: duration,
      parent: parent?.value.label)
  }
}
