extension Environment {
  /// Reports an object to a test before the container drops its reference. Omits values, instances that were handed in,
  /// and externally owned beans.
  @inline(never)
  func observe(_ object: ObjectReference, _ recipe: FrozenReference<Recipe>) {
    guard let hook = homeResources?.hook,
      recipe.value.code.with({ $0.instance == nil && !$0.options.isExternallyOwned })
    else { return }
    let bean = recipe.value.definition
    object.with { instance in
      let value = Box.open(instance)
      guard type(of: value) is AnyObject.Type else { return }
      hook.released(value as AnyObject, bean.label, bean.type, bean.location.origin, in: name)
    }
  }
}
