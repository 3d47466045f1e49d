import BeansReflection
import BeansErrors

// The faults of one declaration that can be found without the other declarations.

extension FrozenSpec {
  /// Returns a fault of the declaration, located there.
  @inline(never)
  func fault(_ cause: FaultCause, _ message: String) -> EnvironmentError {
    EnvironmentError(cause: cause, message, path: [value.written], origin: value.location.origin)
  }

  /// The faults that were found while the declaration was made.
  var ownFaults: [EnvironmentError] { self.faults.map { fault($0.cause, $0.message) } }

  /// The faults of options that a decorator cannot have.
  func decoratorFaults(decorating type: Any.Type) -> [EnvironmentError] {
    var found: [EnvironmentError] = []
    if Parameter.isWrapper(type) {
      found.append(fault(.notABean, "\(type) is not a bean, so that nothing can be decorated as one"))
    }
    if value.id != nil || value.template != nil || value.isAbstract || value.isPrimary || value.target != nil {
      found.append(
        fault(
          .decoratorOptions,
          "a decorator is found by its decorated bean: it has no id, parent, target or preference of its own"))
    }
    if value.scopeName != nil {
      found.append(
        fault(.decoratorOptions, "a decorator lives as long as its decorated bean, and has no scope of its own"))
    }
    if value.argument(0) != nil {
      found.append(fault(.decoratedArgument, "argument 0 is the decorated bean, which cannot be pinned"))
    }
    return found
  }

  /// Returns the reason why a type can never be a factory bean of a target; nil if it may be.
  func factoryBeanFault(of type: Any.Type, making target: Any.Type?) -> EnvironmentError? {
    guard let target else {
      return fault(.missingTarget, "\(type) is a FactoryBean: .target(…) has to name its product")
    }
    guard let factory = type as? any FactoryBean.Type else {
      return fault(.needlessTarget, "\(type) is no FactoryBean, so it cannot have the target \(target)")
    }
    return FactoryFunction.fault(of: factory, making: target).map {
      fault(Parameter.isWrapper(target) ? .notABean : .otherProduct, $0)
    }
  }
}
