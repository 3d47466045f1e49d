/// Resolves a bean when called, not when injected.
///
/// A provider breaks cycles and lets a longer-lived bean reach a shorter-lived one. It looks in `Environment.current`
/// where that is a descendant of the environment the provider was injected for, else in that environment itself;
/// outside a request, a request's bean is `.scopeNotActive`.
public struct Provider<Bean>: Sendable {
  private let environment: Environment

  private let id: String?

  init(environment: Environment, id: String? = nil) {
    self.environment = environment
    self.id = id
  }

  /// The bean, as `getBean` would give it, at the cost of one lookup. From any thread.
  public func get() throws -> Bean {
    if let current = Environment.current, current.isDescendant(of: environment) {
      return try current.getBean(Bean.self, byId: id)
    }
    return try environment.getBean(Bean.self, byId: id)
  }
}
