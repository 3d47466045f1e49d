import BeansReflection
import Synchronization

/// The completion of an instance after its factory has returned: properties, class-level injections, environment, post
/// processors and callbacks, in that order.
extension Environment {
  /// Returns the completed bean. Takes over the reference to the object that the factory has made, and releases it if
  /// the completion fails.
  ///
  /// - Returns: the bean, and whether the object was complete before: then this call has done nothing to it.
  func complete(
    _ created: ObjectReference, _ recipe: FrozenReference<Recipe>
  ) throws -> (object: ObjectReference, isComplete: Bool) {
    var object = created
    if !isNew(object, recipe) {
      giveBack(recipe.value.properties)
      return (object, true)
    }
    do {
      let traits = traits(of: object, recipe)
      try checkDeclared(traits, of: object, recipe)
      if object.identity != recipe.value.identity, traits.contains(.injected) {
        try injectAll(object.with { Box.open($0) as AnyObject }, except: recipe.value.code.with { $0.given })
      }
      try object.with { try setProperties(of: $0, recipe) }
      if traits.contains(.aware) {
        value(object, recipe.value.aware, as: (any EnvironmentAware).self)?.environment = self
      }
      if recipe.value.isProcessed {
        // Keeps a replaced object until its claim is given up, so that no other object gets its address before.
        let made = object.object
        object = try process(object, recipe)
        if object != created {
          if recipe.value.kind == .slot { giveUp(ObjectReference(unretained: made).beanIdentity) }
          if !isNew(object, recipe) { return (object, true) }
        }
      }
      if self.traits(of: object, recipe).contains(.bean) {
        try value(object, recipe.value.bean, as: (any Bean).self)?.postConstruct()
      }
      try recipe.value.code.with { code in
        for callback in code.options.postConstructs { try object.with { try callback($0, .completed) } }
        // An asynchronous bean is not complete yet. The bean is not published: no release comes before its work.
        if code.options.works.isEmpty || recipe.value.work.contains(.await) { return }
        for work in code.options.works { work.start(BeanWork(object, recipe, in: self)) }
      }
      return (object, false)
    } catch {
      if recipe.value.kind == .slot { giveUp(object.beanIdentity) }
      object.release()
      throw error
    }
  }

  private func traits(of object: ObjectReference, _ recipe: FrozenReference<Recipe>) -> BeanTraits {
    if object.identity == recipe.value.identity { recipe.value.traits } else { unforeseenTraits(of: object) }
  }

  /// Returns the traits of an object of a class that the plan does not know. Its release may need more than the plan
  /// knows.
  private func unforeseenTraits(of object: ObjectReference) -> BeanTraits {
    let traits = object.with { BeanTraits.of($0) }
    if !traits.isDisjoint(with: .released) {
      core.compiledPlan.with { $0.isSilent.store(false, ordering: .relaxed) }
    }
    return traits
  }

  /// Returns an object as a protocol; nil if the object does not conform.
  private func value<Value>(_ object: ObjectReference, _ layout: ExistentialLayout?, as type: Value.Type) -> Value? {
    if let layout, layout.fits(object) { return layout.value(ObjectReference(object.object), as: type) }
    return object.with { Box.open($0) as? Value }
  }

  /// Completes an instance of a subclass, or of a type that is unknown to the plan. Releases the instance if the
  /// completion fails.
  @inline(never)
  func completeUnforeseen(_ object: ObjectReference, _ recipe: FrozenReference<Recipe>) throws {
    let type = object.beanType
    if isPlain(type, recipe) { return }
    let traits = unforeseenTraits(of: object)
    if traits.isDisjoint(with: .released.union(.declared).union([.aware, .bean, .injected])) {
      return core.compiledPlan.with { $0.plainTypes[Int(recipe.value.number)].store(type, ordering: .relaxed) }
    }
    _ = try complete(object, recipe)
  }

  /// Whether an object of a type, made by a recipe that does not know the type, needs neither completion nor release.
  func isPlain(_ type: ObjectIdentifier, _ recipe: FrozenReference<Recipe>) -> Bool {
    core.compiledPlan.with { plan in
      plan.plainTypes[Int(recipe.value.number)].load(ordering: .relaxed) == type
    }
  }

  /// Throws if an object has capabilities that its declared type hides from startup. Assisted factories and decorators
  /// make no listeners, whatever their types.
  private func checkDeclared(
    _ traits: BeanTraits, of object: ObjectReference, _ recipe: FrozenReference<Recipe>
  ) throws {
    var undeclared = traits.intersection(.declared).subtracting(recipe.value.traits)
    if traits.contains(.awaited), !recipe.value.work.contains(.await) { undeclared.insert(.awaited) }
    if undeclared.isEmpty { return }
    let bean = recipe.value.definition
    if recipe.value.kind == .product || bean.decorated != nil { undeclared.remove(.listener) }
    if undeclared.isEmpty { return }
    let type = object.with { "\(Swift.type(of: Box.open($0)))" }
    throw bean.fault(
      .undeclaredCapability,
      "\(bean.label) turned out to be \(undeclared.names) (\(type)), which startup has to know: declare it as \(type)")
  }

  private func setProperties(of object: AnyObject, _ recipe: FrozenReference<Recipe>) throws {
    let operands = recipe.value.properties
    var next = 0
    do {
      try recipe.value.code.with { code in
        for property in code.properties {
          if let (id, parameter, point) = property.named {
            try property.set(object, naming(point) { try lookUp(parameter, id: id(object)) })
          } else {
            let operand = operands[next]
            next += 1
            try property.set(object, argument(operand))
          }
        }
      }
    } catch {
      giveBack(operands, from: next)
      throw error
    }
  }

  // MARK: post processors

  /// Applies the post processors. Values are not passed to post processors, except a class instance that is declared as
  /// a protocol type.
  private func process(_ object: ObjectReference, _ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    let opened = object.with { Box.open($0) }
    guard type(of: opened) is AnyObject.Type else { return object }
    let instance = opened as AnyObject
    var processed = instance
    for operand in core.compiledPlan.with({ $0.services.processors }) {
      processed = try argument(operand).take(as: (any BeanPostProcessor).self).process(processed)
    }
    if processed === instance { return object }
    let bean = recipe.value.definition
    let found: AnyClass = type(of: processed)
    guard TypeRelation.isUsable(found, as: bean.type) else {
      throw bean.fault(
        .otherProcessedBean, "a post processor replaced \(bean.label) by a \(found), which is no \(bean.type)")
    }
    var replacement = Optional(processed)
    if object.with({ $0 is Box }) { replacement = recipe.value.function.with { $0.boxed?.box(.beans([processed])) } }
    guard let replacement else { return object }
    object.release()
    return ObjectReference(replacement)
  }

  // MARK: class-level injections that no recipe has

  /// Runs the class-level injections of an object, except those of properties that are set otherwise: all of them for
  /// an object that is no bean, and those that the recipe does not contain for an instance of a subclass, or of a class
  /// behind a protocol.
  package func injectAll(_ object: AnyObject, except given: [PropertyInjection] = []) throws {
    for injection in try ClassInjection.all(of: type(of: object))
    where !given.contains(where: { $0.sets(injection) == true }) {
      try naming(injection.point) { try injection.setter.set(object, argument(for: injection, of: object)) }
    }
  }

  private func argument(for injection: ClassInjection, of object: AnyObject) throws -> Argument {
    let parameter = injection.setter.parameter
    switch injection.source {
    case .bean(let id): return try lookUp(parameter, id: id)
    case .named(let id): return try lookUp(parameter, id: id(object))
    case .custom(let request): return try compute(request, injection.property, parameter)
    case .configuration(let request):
      let found = try configuration.value(parameter.wanted, for: request)
      if let argument = parameter.argument(given: found) { return argument }
      throw injection.property.mismatch(found)
    }
  }

  /// Runs `body`, and adds the name of the property to the message of its faults.
  private func naming<R>(_ point: some CustomStringConvertible, _ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as EnvironmentError {
      throw error.saying("\(point): \(error.message)")
    }
  }

  /// Computes a value with the nearest provider for requests of that class.
  func compute(_ request: AnyObject, _ property: PropertyDescriptor, _ parameter: Parameter) throws -> Argument {
    for operand in core.compiledPlan.with({ $0.services.injections }).reversed() {
      let provider = try argument(operand).take(as: (any InjectionProvider).self)
      guard provider.kind == type(of: request) else { continue }
      let value = try provider.value(for: request, of: property, in: self)
      if let result = parameter.argument(given: value ?? (Any?.none as Any)) { return result }
      throw property.mismatch(value)
    }
    throw EnvironmentError(
      cause: .unservedInjection, "\(property.label): no Injection is defined that serves \(type(of: request))")
  }
}
