@_spi(BeansPackage) import BeansErrors

/// The creation of one bean by an asynchronous factory, or with an asynchronous `postConstruct`.
struct BeanCreation: Sendable {
  let environment: Environment
  let recipe: FrozenReference<Recipe>

  /// Creates the bean and stores it in its slot.
  func run() async -> Result<Void, any Error> {
    let log: ContainerLog? = if recipe.value.work.contains(.trace) { environment.log } else { nil }
    let record = environment.resources.flatMap { $0.unready.isEmpty ? nil : $0.record }
    let began: ContinuousClock.Instant? = if record == nil && environment.observers.isEmpty { nil } else { .now }
    do {
      let runs = RunningBeans(of: environment)
      if runs.areRunning { try await runs.awaitReady(neededBy: recipe) }
      environment.store(created: try await made(), in: recipe.value.slot)
      if let began { record?.add([recipe.time(.now - began)]) }
      log?.created(recipe.value.definition.label, in: environment.name)
      report(since: began, nil)
      return .success(())
    } catch {
      log?.failed(recipe.value.definition.label, in: environment.name, error)
      let failure = environment.failure(error, of: recipe)
      report(since: began, failure)
      return .failure(failure)
    }
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
    let (bean, wasComplete) = try ResolutionContext.with(Unretained(environment), recipe) { context in
      context.value.current = recipe
      return try environment.complete(ObjectReference(object), recipe)
    }
    if wasComplete { return bean }
    do {
      if let bean = Box.open(bean.object) as? any AsyncBean { try await bean.postConstruct() }
      let works = recipe.value.code.with { $0.options.works }
      for work in works { work.start(BeanWork(bean, recipe, in: environment)) }
      return bean
    } catch {
      environment.giveUp(bean.beanIdentity)
      bean.release()
      throw error
    }
  }
}
