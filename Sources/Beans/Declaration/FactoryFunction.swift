import BeansReflection

/// How an instance is made: what it takes, and what to call. Immutable.
@usableFromInline
final class FactoryFunction: Sendable {
  /// One for each parameter, in order.
  let parameters: [Parameter]
  /// Takes its arguments in the order of `parameters`; answers the object, or the value in its box.
  let create: @Sendable (Arguments) throws -> AnyObject
  /// The type of what `create` answers, where that is a box.
  let boxed: Parameter?
  /// The class of what `create` usually answers, where the declared type decides it.
  let identity: ObjectIdentifier?
  /// What a factory that `bindFactory` declares makes from its parameters, and by which function; `create` then takes one
  /// argument, a `ProductBuilder`.
  let product: (type: Any.Type, function: FactoryFunction)?
  /// Whether `create` answers an `AsyncCreation`, which makes the object.
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

  /// Calls the class's own `init()`.
  convenience init(initializing type: any Initializable.Type) {
    self.init(parameters: [], identity: ObjectIdentifier(type)) { _ in type.init() }
  }

  /// Hands out an instance that the user made.
  convenience init(instance: InstanceHolder, identity: ObjectIdentifier) {
    self.init(parameters: [], identity: identity) { _ in
      if let instance = instance.instance { return instance }
      throw EnvironmentError(.finished, "the instance has been released with its environment")
    }
  }

  /// Inlined into the module that declares the bean, so that `make` is compiled for its concrete types.
  @inlinable @inline(__always)
  convenience init<Instance>(
    _ type: Instance.Type, _ parameters: [Parameter], _ make: @escaping @Sendable (Arguments) throws -> Instance
  ) {
    if type is AnyObject.Type {
      self.init(parameters: parameters, identity: ObjectIdentifier(Instance.self)) {
        uncheckedCast(try make($0), to: AnyObject.self)
      }
    } else {
      // What an existential holds is known only when it is there.
      let identity = FactoryFunction.isExistential(type) ? nil : ObjectIdentifier(ValueBox<Instance>.self)
      self.init(parameters: parameters, boxed: Parameter.of(type), identity: identity) { ValueBox(try make($0)) }
    }
  }

  /// A factory that is awaited: `make` answers what goes on with the arguments it has taken.
  @inlinable
  convenience init<Instance>(
    awaiting type: Instance.Type, _ parameters: [Parameter],
    _ make: @escaping @Sendable (inout Arguments) -> () async throws -> Instance
  ) {
    let isClass = type is AnyObject.Type
    self.init(
      parameters: parameters, boxed: isClass ? nil : Parameter.of(type),
      identity: isClass ? ObjectIdentifier(Instance.self) : nil, isAsynchronous: true
    ) { arguments in
      var arguments = arguments
      let body = make(&arguments)
      return AsyncCreation {
        let instance = try await body()
        return isClass ? uncheckedCast(instance, to: AnyObject.self) : ValueBox(instance)
      }
    }
  }

  @usableFromInline
  static func isExistential(_ type: Any.Type) -> Bool { TypeRelation.isExistential(type) }
}

/// What an asynchronous factory has been given.
@usableFromInline
final class AsyncCreation {
  private let body: () async throws -> AnyObject

  @usableFromInline
  init(_ body: @escaping () async throws -> AnyObject) { self.body = body }

  func run() async throws -> AnyObject { try await body() }
}
