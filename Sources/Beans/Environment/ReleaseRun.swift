import BeansLogging
import Synchronization

/// Releases what one environment holds, last created first, and stops where something has to be awaited.
struct ReleaseRun {
  private let environment: Unmanaged<Environment>
  /// Whether asynchronous releases are returned to be awaited, or fail.
  private let canWait: Bool
  /// Beans not yet released.
  private var rest: CreationOrder
  /// What a bean that is awaited keeps until it is done.
  private var held: Unmanaged<AnyObject>?
  /// Whether the release of each bean is spoken of.
  let isFollowed: Bool
  /// Without the seed.
  private(set) var released: Int

  /// `environment` is kept by whoever runs this.
  init(_ environment: Environment, canWait: Bool) {
    self.environment = .passUnretained(environment)
    self.canWait = canWait
    self.rest = CreationOrder(environment)
    (self.isFollowed, self.released) = environment.header.plan._withUnsafeGuaranteedRef {
      ($0.isFollowed, $0.hasSeed ? -1 : 0)
    }
    if environment.header.setup != nil || environment.isCustomScope { finishScopes(of: environment) }
  }

  /// Goes on until a bean has to be awaited, whose release it returns, or until nothing is left.
  ///
  /// After the returned release has run, `note` its failure and advance again.
  mutating func advance() -> BeanRelease? {
    held?.release()
    held = nil
    return environment._withUnsafeGuaranteedRef { environment in
      let slots = environment.slots
      let flat = environment.header.plan._withUnsafeGuaranteedRef { $0.flat }
      while let index = rest.popLast() {
        guard let pointer = slots[index].object else {
          // Released quietly already.
          released += 1
          continue
        }
        slots[index].word.store(0, ordering: .relaxed)
        let object = Unmanaged<AnyObject>.fromOpaque(pointer)
        released += 1
        let settled = flat[index]
        let identity = object._withUnsafeGuaranteedRef { UInt(bitPattern: ObjectIdentifier(type(of: $0))) }
        if settled.pointee.ending == .quiet, settled.pointee.identity == identity {
          object.release()
        } else if let pending = end(object, settled.pointee.recipe, of: environment) {
          return pending
        }
      }
      return nil
    }
  }

  /// Runs the callbacks of one bean, unless they have to be awaited.
  private mutating func end(
    _ object: Unmanaged<AnyObject>, _ recipe: Unmanaged<Recipe>, of environment: Environment
  ) -> BeanRelease? {
    let recipe = recipe._withUnsafeGuaranteedRef { $0 }
    if isFollowed, !recipe.definition.isSeed { recipe.plan.log.releasing(recipe, in: environment.name) }
    // The children of a factory share what was declared.
    if recipe.definition.isInstance, environment.header.setup != nil { recipe.definition.declaration?.instance = nil }
    // A user's scope object has released its own by now.
    let isReleased = environment.isCustomScope && recipe.definition.scopeName == recipe.plan.scopeName
    if !isReleased, let release = object._withUnsafeGuaranteedRef({ BeanRelease($0, of: recipe) }) {
      if release.isAsynchronous && canWait {
        held = object
        return release
      }
      note(release.runSynchronously())
    }
    object.release()
    return nil
  }

  func note(_ failure: EnvironmentError?) { environment._withUnsafeGuaranteedRef { $0.note(failure) } }

  /// Users' scopes end before the beans they were built from.
  private func finishScopes(of environment: Environment) {
    var scopes = environment.header.setup == nil ? [] : environment.plan.scopes.map(\.scope)
    if let scope = environment.scope.custom { scopes.append(scope) }
    for scope in scopes.reversed() {
      scope.finish()
      for failure in (scope as? AbstractBeanScope)?.takeFailures() ?? [] { environment.side.record(failure) }
    }
  }
}
