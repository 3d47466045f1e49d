/// What a factory makes for each of its children, told apart once.
enum ScopeObject {
  case none
  /// Says where beans are released; the environment keeps them.
  case hosted(any HostedScope)
  /// A user's own: decides how its beans come and go.
  case custom(any BeanScope)

  init(_ scope: (any BeanScope)?) {
    if let hosted = scope as? any HostedScope {
      self = .hosted(hosted)
    } else {
      self = scope.map { .custom($0) } ?? .none
    }
  }

  var isCustom: Bool { if case .custom = self { true } else { false } }
  var host: (any HostedScope)? { if case .hosted(let scope) = self { scope } else { nil } }
  var custom: (any BeanScope)? { if case .custom(let scope) = self { scope } else { nil } }
}
