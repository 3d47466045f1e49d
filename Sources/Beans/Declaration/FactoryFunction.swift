import BeansReflection

/// The construction of an instance: its parameters and the function to call. Immutable.
@usableFromInline
final class FactoryFunction: Sendable {
  /// The parameters, in order.
  let parameters: [Parameter]
  /// Makes the instance from arguments in the order of `parameters`; returns the object, or the value in its box.
  let create: @Sendable (Arguments) throws -> AnyObject
  /// The type of the value in the box that `create` returns; nil where it returns an object.
  let boxed: Parameter?
  /// The class of the object that `create` usually returns; nil where the declared type does not decide it.
  let identity: ObjectIdentifier?
  /// The type of the products that a factory declared by `bindFactory` makes from its parameters, and a function that
  /// describes them. `create` then takes one argument, a `ProductBuilder`.
  let product: (type: Any.Type, function: FactoryFunction)?
  /// Whether `create` returns an `AsyncCreation`, which makes the object.
  let isAsynchronous: Bool

  @usableFromInline
  init(
    parameters: [Parameter], boxed: Parameter? = nil, identity: ObjectIdentifier? = nil,
    product: (type: Any.Type, function: FactoryFunction)? = nil, isAsynchronous: Bool = false,
    create: @escaping @Sendable (Arguments) throws -> AnyObject
  ) {
    self.parameters = parameters
    self.boxed = boxed
    self.identity = identity
    self.product = product
    self.isAsynchronous = isAsynchronous
    self.create = create
  }

  /// Creates a function that calls the class's own `init()`.
  convenience init(initializing type: any Initializable.Type) {
    self.init(parameters: [], identity: ObjectIdentifier(type)) { _ in type.init() }
  }

  /// Creates a function that returns an instance that the user made.
  convenience init(instance: InstanceHolder, identity: ObjectIdentifier) {
    self.init(parameters: [], identity: identity) { _ in
      if let instance = instance.instance { return instance }
      throw EnvironmentError(.finished, "the instance has been released with its environment")
    }
  }

  /// Creates a function that calls `make`. Inlined into the module that declares the bean, so that `make` is compiled
  /// for its concrete types.
  @inlinable @inline(__always)
  convenience init<Instance>(
    _ type: Instance.Type, _ parameters: [Parameter], product: (type: Any.Type, function: FactoryFunction)? = nil,
    _ make: @escaping @Sendable (Arguments) throws -> Instance
  ) {
    if type is AnyObject.Type {
      self.init(parameters: parameters, identity: ObjectIdentifier(Instance.self), product: product) {
        uncheckedCast(try make($0), to: AnyObject.self)
      }
    } else {
      // The class of an existential's content is known only at run time.
      let identity = FactoryFunction.isExistential(type) ? nil : ObjectIdentifier(ValueBox<Instance>.self)
      self.init(parameters: parameters, boxed: Parameter.of(type), identity: identity, product: product) {
        ValueBox(try make($0))
      }
    }
  }

  /// Creates an asynchronous factory: `make` takes its arguments and returns the closure that is awaited.
  @inlinable
  convenience init<Instance>(
    awaiting type: Instance.Type, _ parameters: [Parameter],
    _ make: @escaping @Sendable (Arguments) -> () async throws -> Instance
  ) {
    let isClass = type is AnyObject.Type
    self.init(
      parameters: parameters, boxed: isClass ? nil : Parameter.of(type),
      identity: isClass ? ObjectIdentifier(Instance.self) : nil, isAsynchronous: true
    ) { arguments in
      let body = make(arguments)
      return AsyncCreation {
        let instance = try await body()
        return if isClass { uncheckedCast(instance, to: AnyObject.self) } else { ValueBox(instance) }
      }
    }
  }

  @usableFromInline
  static func isExistential(_ type: Any.Type) -> Bool { TypeRelation.isExistential(type) }
}

/// The rest of an asynchronous factory, after it has taken its arguments.
@usableFromInline
final class AsyncCreation {
  let run: () async throws -> AnyObject

  @usableFromInline
  init(_ run: @escaping () async throws -> AnyObject) { self.run = run }
}
