/// What is done to an instance once its factory has made it.
extension Environment {
  /// Properties, class-level injections, environment, post processors and callbacks, in that order.
  @inline(never)
  func complete(_ created: AnyObject, _ recipe: Recipe, _ found: LifecycleTraits) throws -> AnyObject {
    var object = created
    var traits = found
    var isForeseen = ObjectIdentifier(type(of: object)) == recipe.identity
    if !isForeseen, traits.contains(.injected) { try injectUnforeseen(object, recipe) }
    // Every recipe of a plan that environments use is frozen.
    let settled = recipe.flat.unsafelyUnwrapped
    try setProperties(of: object, settled)
    if traits.contains(.aware) { introduce(to: object, isForeseen ? settled.pointee.aware : nil) }
    if !recipe.isInfrastructure, !plan.processors.isEmpty, let processed = try process(object, recipe) {
      object = processed
      traits = recipe.traits(of: object)
      isForeseen = ObjectIdentifier(type(of: object)) == recipe.identity
    }
    if traits.contains(.bean) { try postConstruct(object, isForeseen ? settled.pointee.bean : nil) }
    for callback in recipe.definition.postConstructs { try callback(object) }
    return object
  }

  @inline(__always)
  private func setProperties(of object: AnyObject, _ settled: UnsafeMutablePointer<SlotPlan>) throws {
    let (assignments, count) = (settled.pointee.assignments, settled.pointee.assignmentCount)
    var index = 0
    while index < count {
      let (edge, field) = (assignments[index].edge, assignments[index].field)
      if let edge, let field {
        let argument = try edge._withUnsafeGuaranteedRef { try self.argument(for: $0) }
        if !field.take(argument, into: object) {
          try settled.pointee.recipe._withUnsafeGuaranteedRef { try set($0.properties[index], of: object, argument) }
        }
      } else {
        try settled.pointee.recipe._withUnsafeGuaranteedRef { try set($0.properties[index], of: object) }
      }
      index += 1
    }
  }

  @inline(never)
  private func set(_ property: Recipe.Property, of object: AnyObject) throws {
    let argument =
      switch property.source {
      case .edge(let edge): try argument(for: edge)
      case .named(let id, let dependency, let place):
        try argument(for: edge(for: dependency, id: id(object), at: place))
      }
    try set(property, of: object, argument)
  }

  private func set(_ property: Recipe.Property, of object: AnyObject, _ argument: Argument) throws {
    defer { argument.release() }
    try property.set(object, argument)
  }

  private func introduce(to object: AnyObject, _ form: ExistentialForm?) {
    if let form {
      form.value(of: object, as: (any EnvironmentAware).self).environment = self
    } else {
      (Box.open(object) as? any EnvironmentAware)?.environment = self
    }
  }

  private func postConstruct(_ object: AnyObject, _ form: ExistentialForm?) throws {
    if let form { return try form.value(of: object, as: (any Bean).self).postConstruct() }
    try (Box.open(object) as? any Bean)?.postConstruct()
  }

  /// Values are not offered to post processors, except a class instance declared as a protocol type.
  private func process(_ object: AnyObject, _ recipe: Recipe) throws -> AnyObject? {
    guard let box = object as? Box else { return try process(instance: object, recipe) }
    guard type(of: box.any) is AnyObject.Type else { return nil }
    let content = box.any as AnyObject
    let processed = try process(instance: content, recipe)
    return processed === content ? nil : recipe.definition.constructor?.product?.box([processed])
  }

  private func process(instance: AnyObject, _ recipe: Recipe) throws -> AnyObject {
    var object = instance
    for edge in plan.processors {
      let argument = try argument(for: edge)
      defer { argument.release() }
      object = try argument.value(as: (any BeanPostProcessor).self).process(object)
    }
    guard object === instance || TypeRelation.isUsable(type(of: object), as: recipe.definition.type) else {
      throw recipe.definition.fault(
        .typeMismatch,
        "a post processor replaced \(recipe.label) by a \(type(of: object)), which is no \(recipe.definition.type)")
    }
    return object
  }
}
