import Synchronization
@_spi(BeansPackage) import BeansSupport

/// Ownership by identity: an object that is a bean already is only another face of that bean, and is neither completed
/// nor released a second time.
///
/// A new object has no reference but the builder's, so it needs no search. The reference count of an existential's box
/// does not show whether the content is new, so its content is searched for.
extension Environment {
  /// The relation of an object to the declaration whose factory or post processor has returned it.
  enum Standing {
    /// A new bean: its declaration completes and releases the object.
    case new
    /// A prototype made for this build, already complete. The declaration that keeps the prototype releases it.
    case complete
    /// Another face of a bean.
    case face
  }

  /// Returns whether an object is a bean already: of this environment, of one further out, or one made for the running
  /// build.
  ///
  /// Claims a new object for its declaration, so that no other thread completes it; call `giveUp` if the completion
  /// fails. The calling thread keeps the environment from being released.
  func standing(of object: ObjectReference, _ recipe: FrozenReference<Recipe>) -> Standing {
    if object.isUnshared, object.with({ !($0 is Box) }) { return .new }
    guard !recipe.value.isSeed, let identity = object.beanIdentity else { return .new }
    let context = ResolutionContext.innermost
    let standing: Standing =
      switch context?.value.made(identity) {
      case .prototype where recipe.value.kind == .slot || recipe.value.kind == .scoped:
        // Another bean of the same build may own the object already.
        isBean(identity, claiming: recipe.value.kind == .slot) ? .face : .complete
      case .prototype: .face
      case .scope: .face
      case nil: isBean(identity, claiming: recipe.value.kind == .slot) ? .face : .new
      }
    if recipe.value.kind == .slot {
      note(recipe.value.slot, isFace: standing == .face)
    } else if standing == .face {
      context?.value.notes.isFace = true
    }
    return standing
  }

  /// Gives up the claim on an object whose completion has failed.
  @inline(never)
  func giveUp(_ identity: ObjectIdentifier?) {
    guard let identity, let extras = existingExtras else { return }
    extras.identities.withLock { $0.giveUp(identity) }
  }

  /// Whether the object of a slot is another face of a bean.
  func isFace(_ slot: Int32) -> Bool {
    existingExtras?.identities.withLock { $0.faces.contains(slot) } == true
  }

  /// The number of slots that hold another face of a bean.
  var faceCount: Int { existingExtras?.identities.withLock { $0.faces.count } ?? 0 }

  private func note(_ slot: Int32, isFace: Bool) {
    if isFace { extras.needsCare.store(true, ordering: .relaxed) }
    existingExtras?.identities.withLock { $0.note(slot, isFace: isFace) }
  }

  private func isBean(_ identity: ObjectIdentifier, claiming: Bool) -> Bool {
    // The own environment first, so that of two threads with the same object one finds the other's claim.
    if holds(identity, claiming: claiming) { return true }
    var next = core.parent
    while let environment = next {
      if environment.with({ $0.holds(identity, claiming: false) }) {
        if claiming { giveUp(identity) }
        return true
      }
      next = environment.with { $0.core.parent }
    }
    return false
  }

  /// Returns whether a slot or a scope of this environment holds an object.
  private func holds(_ identity: ObjectIdentifier, claiming: Bool) -> Bool {
    guard let plan = core.plan else { return false }
    if plan.with({ $0.hasSeed }), core.slots[0].content.isFilled, core.slots[0].content.object.beanIdentity == identity
    {
      return true
    }
    if ownScopes.contains(where: { ($0 as? AbstractBeanScope)?.cache.holds(identity) == true }) { return true }
    if !claiming, core.extras == nil, let isHeld = core.lock.withLock({ scan(identity) }) { return isHeld }
    return extras.identities.withLock { identities in
      let fresh = core.lock.withLock {
        return (identities.logged..<creationLog.count).map { index -> ObjectReference? in
          let content = core.slots[creationLog[index]].content
          return content.isFilled ? content.object : nil
        }
      }
      identities.add(logged: fresh)
      return claiming ? !identities.claim(identity) : identities.contains(identity)
    }
  }

  /// Compares the beans of an environment, under its lock; nil if there are too many to compare.
  private func scan(_ identity: ObjectIdentifier) -> Bool? {
    let log = creationLog
    if log.count > 32 { return nil }
    return (0..<log.count).contains { index in
      let content = core.slots[log[index]].content
      return content.isFilled && content.object.beanIdentity == identity
    }
  }

  // MARK: beans outside of slots

  /// Notes a new instance that no slot keeps, for the build that takes it and for the `Owned` that it belongs to.
  @inline(never)
  func noteForTaker(
    _ object: ObjectReference, _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>
  ) {
    guard recipe.value.kind == .prototype, let taker = context.value.taker else { return }
    let collection = taker.value.collection
    if collection != nil, !context.value.isFace, !recipe.value.work.contains(.complete) {
      _ = standing(of: object, recipe)
    }
    let (instance, identity, isFace) = (object.object, object.beanIdentity, context.value.isFace)
    if let identity, let maker = isFace ? context.value.made(identity) : .prototype {
      taker.value.notes.beans.append((identity, instance, maker))
    }
    if !isFace { collection?.parts?.append(.prototype(instance, recipe)) }
  }

  /// Notes a bean of a scope that keeps its beans by itself, for the build that takes the bean.
  func noteForTaker(_ object: AnyObject, of scope: any BeanScope) {
    if scope is AbstractBeanScope { return }
    guard let taker = ResolutionContext.nearestBuild,
      let identity = ObjectReference(unretained: object).beanIdentity
    else { return }
    taker.value.notes.beans.append((identity, object, .scope))
  }
}
