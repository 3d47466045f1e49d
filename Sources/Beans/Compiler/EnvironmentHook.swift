package import BeansErrors

/// The hook of a test into an environment and those below it: replaces beans at startup, and observes releases.
package protocol EnvironmentHook: AnyObject, Sendable {
  /// Selects the beans of one environment, or of the children of one factory, that are replaced.
  ///
  /// - Parameter beans: the declared beans without the seed, before decorators are added.
  /// - Returns: the replacements; the numbers of the hook's overrides that match a bean; the faults of the overrides.
  func replacements(
    for beans: [BeanDefinition]
  ) -> (made: [BeanReplacement], matched: Set<Int>, faults: [EnvironmentError])

  /// Returns the fault of an override whose bean is not the only best match of its lookup.
  ///
  /// - Parameters:
  ///   - override: the number of the override.
  ///   - bean: the name of its bean in faults.
  ///   - rivals: the other beans that match the type of the lookup.
  ///   - environment: the name of the environment that declares the bean.
  func fault(of override: Int, making bean: String, losingTo rivals: [String], in environment: String)
    -> EnvironmentError

  /// Returns a fault for each override that matched no bean.
  ///
  /// - Parameters:
  ///   - matched: the numbers of the overrides that matched a bean.
  ///   - levels: the declarations of the environment, and of the children of all factories below.
  func faults(besides matched: Set<Int>, in levels: [DeclarationLevel]) -> [EnvironmentError]

  /// Reports that the container is about to drop its reference to an object that it made. The releasing thread calls
  /// this.
  ///
  /// - Parameters:
  ///   - object: an instance of a class, not yet deinitialised.
  ///   - bean: the bean.
  ///   - environment: the name of the environment that retained the object.
  func released(_ object: AnyObject, _ bean: BeanDefinition, in environment: String)

  /// Reports that a release has failed.
  func failed(_ failure: EnvironmentError)
}

/// The replacement of one bean by an override of a hook.
package struct BeanReplacement {
  /// The number of the override.
  let override: Int
  /// The number of the bean in its directory.
  let number: Int32
  let factory: ReplacingFactory
  /// The lookup that has to find the bean; nil for a bean that needs no check.
  let lookup: (type: Any.Type, qualifier: Any.Type?)?

  package init(
    _ override: Int, of bean: BeanDefinition, by factory: ReplacingFactory,
    lookup: (type: Any.Type, qualifier: Any.Type?)?
  ) {
    (self.override, number, self.factory, self.lookup) = (override, bean.number, factory, lookup)
  }
}

/// The factory of a bean that replaces a declared one, or an error instead of a bean.
package struct ReplacingFactory: Sendable {
  /// The type of the bean; nil if there is none.
  package let type: Any.Type?
  /// The place of the bean's declaration; nil for that of the replaced one.
  let location: SourceLocation?
  /// Returns the function that takes the place of a bean's own.
  let function: @Sendable (_ replaced: BeanDefinition) -> FactoryFunction

  /// Creates a factory whose parameters are resolved by their types.
  package init<T, each D>(
    at origin: EnvironmentError.Origin, _ factory: @escaping @Sendable (repeat each D) throws -> T
  ) {
    let parameters = Parameter.all(repeat (each D).self)
    let function = FactoryFunction(T.self, parameters) { arguments in
      let taken = arguments.take(as: repeat (each D).self)
      return try factory(repeat each taken)
    }
    (type, location, self.function) = (T.self, .known(origin), { _ in function })
  }

  /// Creates a factory that throws the error which the closure makes from the bean's label.
  package init(refusing refusal: @escaping @Sendable (String) -> EnvironmentError) {
    (type, location) = (nil, nil)
    function = { replaced in
      let (label, own) = (replaced.label, replaced.factory.object)
      return FactoryFunction(parameters: [], boxed: own.boxed, identity: own.identity) { _ in throw refusal(label) }
    }
  }
}
