@_spi(BeansPackage) import BeansErrors

/// The creation of one bean by an asynchronous factory, or with an asynchronous `postConstruct`.
struct BeanCreation: Sendable {
  let environment: Environment
  let recipe: FrozenReference<Recipe>

  /// Creates the bean and stores it in its slot.
  func run() async -> Result<Void, any Error> {
    let began = beginning
    do {
      let runs = RunningBeans(of: environment)
      if runs.areRunning { try await runs.awaitReady(neededBy: recipe) }
      succeed(with: try await made(), since: began)
      return .success(())
    } catch {
      return .failure(fail(with: error, since: began))
    }
  }

  // Out of line: the locals of an asynchronous function take memory of its task while it waits, 1,120 bytes before.

  /// The time now, if the startup or an observer asks for the duration.
  private var beginning: ContinuousClock.Instant? {
    @inline(never) get { if record == nil && environment.observers.isEmpty { nil } else { .now } }
  }

  /// The record of the startup, as long as it is under way.
  private var record: StartupRecord? { environment.resources.flatMap { $0.unready.isEmpty ? nil : $0.record } }

  private var log: ContainerLog? { if recipe.value.work.contains(.trace) { environment.log } else { nil } }

  @inline(never)
  private func succeed(with object: ObjectReference, since began: ContinuousClock.Instant?) {
    environment.store(created: object, in: recipe.value.slot)
    if let began { record?.add([recipe.time(.now - began)]) }
    log?.created(recipe.value.definition.label, in: environment.name)
    report(since: began, nil)
  }

  @inline(never)
  private func fail(with error: any Error, since began: ContinuousClock.Instant?) -> any Error {
    log?.failed(recipe.value.definition.label, in: environment.name, error)
    let failure = environment.failure(error, of: recipe)
    report(since: began, failure)
    return failure
  }

  /// Reports the end of the creation to observers.
  private func report(since start: ContinuousClock.Instant?, _ error: (any Error)?) {
    let observers = environment.observers
    guard let start, !observers.isEmpty else { return }
    let bean = recipe.value.definition
    let duration = ContinuousClock.now - start
    for observer in observers {
      observer.creationEnded(
        of: bean.label, declaredAt: bean.location.origin, in: environment, error: error, start: start,
        duration: duration)
    }
  }

  /// Returns the complete object, retained once.
  private func made() async throws -> ObjectReference {
    let call = AwaitingCall("a factory", at: recipe.value.definition.location)
    let begun = try await call.repeating { try environment.begin(recipe) }
    let object = if let creation = begun as? AsyncCreation { try await creation.run() } else { begun }
    let (bean, wasComplete) = try completed(object)
    if wasComplete { return bean }
    do {
      if let bean = Box.open(bean.object) as? any AsyncBean { try await bean.postConstruct() }
      startWork(bean)
      return bean
    } catch {
      environment.giveUp(bean.beanIdentity)
      bean.release()
      throw error
    }
  }

  @inline(never)
  private func completed(_ object: AnyObject) throws -> (object: ObjectReference, isComplete: Bool) {
    try ResolutionContext.with(Unretained(environment), recipe) { context in
      context.value.current = recipe
      return try environment.complete(ObjectReference(object), recipe)
    }
  }

  @inline(never)
  private func startWork(_ bean: ObjectReference) {
    let works = recipe.value.code.with { $0.options.works }
    for work in works { work.start(BeanWork(bean, recipe, in: environment)) }
  }
}
