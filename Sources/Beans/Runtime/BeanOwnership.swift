@_spi(BeansPackage) import BeansErrors
import Synchronization

/// Ownership by identity: an object that is a bean already is only another face of that bean, and is neither completed
/// nor released a second time.
///
/// A new object has no reference but the builder's, so it needs no search. The reference count of an existential's box
/// does not show whether the content is new, so its content is searched for.
extension Environment {
  /// Whether an object is new. Any other object is a bean already: here, further out, or made for the running build.
  /// The declaration whose factory or post processor has returned it does not complete it. A prototype that was made
  /// for the build is complete, and the declaration that keeps it releases it; every other bean has its owner, and this
  /// is only another face of it.
  ///
  /// Claims a new object for its declaration, so that no other thread completes it; call `giveUp` if the completion
  /// fails. The calling thread keeps the environment from being released.
  func isNew(_ object: ObjectReference, _ recipe: FrozenReference<Recipe>) -> Bool {
    if object.isUnshared, object.with({ !($0 is Box) }) { return true }
    guard let identity = object.beanIdentity else { return true }
    let (kind, context) = (recipe.value.kind, ResolutionContext.innermost)
    let maker = context?.value.made(identity)
    let isFace =
      switch maker {
      // Another bean of the same build may own the prototype already.
      case .prototype where kind == .slot || kind == .scoped, nil: isBean(identity, claiming: kind == .slot)
      case .prototype, .scope: true
      }
    if kind == .slot {
      note(recipe.value.slot, isFace: isFace)
    } else if isFace {
      context?.value.notes.isFace = true
    }
    return maker == nil && !isFace
  }

  /// Gives up the claim on an object whose completion has failed.
  @inline(never)
  func giveUp(_ identity: ObjectIdentifier?) {
    guard let identity, let extras = existingExtras else { return }
    extras.identities.withLock { _ = $0.beans.remove(identity) }
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
    let isHeld = outwards.dropFirst().contains { $0.with { $0.holds(identity, claiming: false) } }
    if isHeld, claiming { giveUp(identity) }
    return isHeld
  }

  /// Returns whether a slot or a scope of this environment holds an object.
  private func holds(_ identity: ObjectIdentifier, claiming: Bool) -> Bool {
    guard let plan = core.plan else { return false }
    if plan.with({ $0.hasSeed }), core.slots[0].content.isFilled, core.slots[0].content.object.beanIdentity == identity
    {
      return true
    }
    if ownScopes.contains(where: { ($0 as? AbstractBeanScope)?.cache.holds(identity) == true }) { return true }
    return extras.identities.withLock { identities in
      let fresh = core.lock.withLock {
        (identities.logged..<creationLog.count).map { core.slots[creationLog[$0]].content }
      }
      identities.logged += fresh.count
      for content in fresh where content.isFilled {
        if let found = content.object.beanIdentity { identities.beans.insert(found) }
      }
      return if claiming { !identities.beans.insert(identity).inserted } else { identities.beans.contains(identity) }
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
      _ = isNew(object, recipe)
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
    guard let taker = ResolutionContext.nearestBuild(from: ResolutionContext.innermost),
      let identity = ObjectReference(unretained: object).beanIdentity
    else { return }
    taker.value.notes.beans.append((identity, object, .scope))
  }
}
