/// The base of what can be said about an injection.
open class Inject: @unchecked Sendable {  // subclasses are immutable by contract
  /// Creates a description of an injection.
  public init() {}
}

/// Asks for a bean by the property's type, or by id.
public final class InjectBean: Inject, @unchecked Sendable {
  /// The id of the bean, or nil to search by type.
  public let id: String?

  /// Creates an injection by type, or by id where one is given.
  public init(id: String? = nil) {
    self.id = id
    super.init()
  }
}
