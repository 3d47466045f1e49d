/// How an instance is made: what it needs, and what to call.
///
/// Immutable; the user's closure has to be as thread-safe as the bean's scope asks.
@usableFromInline
final class BeanConstructor: @unchecked Sendable {
  @usableFromInline typealias Create = (Arguments) throws -> AnyObject

  /// One per parameter, in order.
  @usableFromInline let dependencies: [Dependency]
  /// Takes its arguments in the order of `dependencies`; answers the object, or the value in its box.
  @usableFromInline let create: Create

  /// What `create` answers, where it is a box.
  let product: Dependency?
  /// The class of what `create` usually answers, where the declared type decides it.
  let identity: ObjectIdentifier?
  /// What the bean makes in its turn, from `dependencies`. `create` then takes one argument: an `Assembly`.
  let assembled: AssembledBean?

  @usableFromInline
  init(
    dependencies: [Dependency], product: Dependency? = nil, identity: ObjectIdentifier? = nil,
    assembled: AssembledBean? = nil, create: @escaping Create
  ) {
    self.dependencies = dependencies
    self.product = product
    self.identity = identity
    self.assembled = assembled
    self.create = create
  }

  /// Inlined into the module that declares the bean, so that `make` is compiled for its concrete types.
  @inlinable @inline(__always)
  convenience init<Instance>(
    _ type: Instance.Type, _ dependencies: [Dependency], _ make: @escaping (Arguments) throws -> Instance
  ) {
    if type is AnyObject.Type {
      self.init(dependencies: dependencies, identity: ObjectIdentifier(Instance.self)) {
        unsafeBitCast(try make($0), to: AnyObject.self)
      }
    } else {
      // What an existential holds is known only when it is there.
      let identity = BeanConstructor.isExistential(type) ? nil : ObjectIdentifier(ValueBox<Instance>.self)
      self.init(dependencies: dependencies, product: Dependency.of(type), identity: identity) {
        ValueBox(try make($0))
      }
    }
  }

  @usableFromInline
  static func isExistential(_ type: Any.Type) -> Bool { TypeRelation.isExistential(type) }
}
