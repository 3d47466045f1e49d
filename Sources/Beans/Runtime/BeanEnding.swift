import BeansErrors
import BeansLogging
import Dispatch

/// The executor of work for which a thread may wait: releases that are awaited where no host is, and the life of an
/// environment beside a thread that is blocked. Threads of its own, because the common pool may have no other thread.
package final class ReleaseExecutor: TaskExecutor {
  package static let shared = ReleaseExecutor()
  private let queue = DispatchQueue(label: "Beans.ReleaseExecutor", attributes: .concurrent)

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// The end of one bean: its work, then `preDestroy`, then `.onDestroy`. The callbacks run even if `preDestroy` throws.
struct BeanEnding {
  let bean: BeanDefinition
  /// The time limit of the release.
  let limit: Duration?
  private var traits: BeanTraits
  private var callbacks: [BeanCallback]
  /// The work with a call in flight, which has been cancelled.
  private var work: [BeanWork] = []

  /// Returns nil if the release only drops the reference. Cancels the work of the bean.
  init?(_ object: AnyObject, of recipe: FrozenReference<Recipe>, in environment: Environment? = nil) {
    if recipe.value.isSeed { return nil }
    bean = recipe.value.definition
    let (isOwned, mayWork): (Bool, Bool)
    (callbacks, limit, isOwned, mayWork) = recipe.value.code.with { code in
      (code.options.onDestroys, code.options.releaseLimit, !code.options.isExternallyOwned, !code.options.works.isEmpty)
    }
    traits = recipe.value.traits
    if ObjectReference(unretained: object).identity != recipe.value.identity { traits = .of(object) }
    if traits.contains(.runnable) || mayWork {
      let all = environment?.existingExtras?.existingWorks?.take(recipe.value.slot) ?? []
      work = all.filter { $0.close() }
    }
    if !isOwned { (traits, callbacks) = ([], []) }
    if work.isEmpty, callbacks.isEmpty, traits.isDisjoint(with: .released) { return nil }
  }

  /// Returns nil if the declaration does not own the object.
  init?(_ object: AnyObject, of declaration: BeanDeclaration) {
    if declaration.spec.options?.value.isExternallyOwned == true || declaration.forget(face: object) { return nil }
    traits = .of(object)
    callbacks = declaration.spec.options?.value.onDestroys ?? []
    bean = declaration.definition
    limit = declaration.spec.options?.value.releaseLimit
  }

  /// Whether the release has to be awaited.
  var isAsynchronous: Bool {
    traits.contains(.asyncDisposable) || !work.isEmpty || callbacks.contains(where: \.isAsynchronous)
  }

  /// Whether the release waits for a call that has been cancelled.
  var isWorking: Bool { work.contains(where: \.isBusy) }

  /// Runs the release without waiting. A release that has to be awaited is a failure that names the bean, and a task runs
  /// it.
  func runSynchronously(_ object: AnyObject, _ outcome: ScopeOutcome) -> EnvironmentError? {
    if isAsynchronous { return runInTask(ObjectReference(object), outcome) }
    var errors = preDestroy(object)
    for callback in callbacks {
      do { try callback(object, outcome) } catch { errors.append(error) }
    }
    return Self.failure(errors, of: bean)
  }

  /// Runs the release in a task that no caller awaits; its failure is logged.
  private func runInTask(_ object: ObjectReference, _ outcome: ScopeOutcome) -> EnvironmentError? {
    Task(executorPreference: ReleaseExecutor.shared) {
      let failure = await runAsynchronously(object.object, outcome)
      object.release()
      if let failure { LogManager.getLogger(forName: "Beans.Scope").error("\(failure)") }
    }
    let state = if work.isEmpty { "is released asynchronously" } else { "still works, and has been cancelled" }
    let fault = EnvironmentError(
      cause: .asynchronousRelease,
      "\(bean.label) \(state): a task releases it, and this call does not wait for that; use 'await shutdown()' or a scope "
        + "bound to a loop", path: [bean.label], origin: bean.location.origin)
    return Self.failure([fault], of: bean)
  }

  func runAsynchronously(_ object: AnyObject, _ outcome: ScopeOutcome) async -> EnvironmentError? {
    var errors: [any Error] = []
    for work in work {
      if let error = await work.ended() { errors.append(error) }
    }
    if traits.contains(.asyncDisposable) {
      if let disposable = Box.open(object) as? any AsyncDisposableBean {
        do { try await disposable.preDestroy() } catch { errors.append(error) }
      }
    } else {
      errors += preDestroy(object)
    }
    for callback in callbacks {
      do { try await callback.await(object, outcome) } catch { errors.append(error) }
    }
    return Self.failure(errors, of: bean)
  }

  /// Calls `preDestroy` of an object that does not await. Returns the error.
  private func preDestroy(_ object: AnyObject) -> [any Error] {
    guard traits.contains(.disposable), let disposable = Box.open(object) as? any DisposableBean else { return [] }
    do { try disposable.preDestroy() } catch { return [error] }
    return []
  }

  static func failure(_ errors: [any Error], of bean: BeanDefinition) -> EnvironmentError? {
    guard let first = errors.first else { return nil }
    if errors.count == 1, let error = first as? EnvironmentError, error.code == .destructionFailed { return error }
    let reasons = errors.map { "\($0)" }.joined(separator: "; ")
    return bean.fault(.destructionFailed, "\(bean.label) could not be released: \(reasons)").with {
      $0.underlying = errors
    }
  }
}

extension BeanDeclaration {
  /// The bean in faults and paths, for a declaration that is passed to a scope.
  var definition: BeanDefinition {
    BeanDefinition(
      FrozenSpec(spec), type: spec.type ?? Any.self, lifetime: Lifetime(spec.scopeName ?? "singleton"), traits: [],
      factory: .unknown, number: -1)
  }
}
