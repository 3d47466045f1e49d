import BeansReflection

/// The base class of injections.
open class Inject: @unchecked Sendable {  // subclasses are immutable by contract
  /// Creates a description of an injection.
  public init() {}

  /// The source of the value, as the container knows it.
  var source: InjectionSource { .custom(self) }
}

/// An injection of a bean by the property's type, or by id.
public final class InjectBean: Inject, @unchecked Sendable {
  /// The id of the bean, or nil to search by type.
  package let id: String?

  /// Creates an injection by type, or by id if one is given.
  public init(id: String? = nil) {
    self.id = id
    super.init()
  }

  override var source: InjectionSource { .bean(id: id) }
}
