/// The lifetime of a bean, as the graph compares it.
enum Lifetime: Sendable, Equatable {
  case singleton
  case prototype
  /// The lifetime of the children of a factory, or of a user's scope. The environments determine which of them.
  case scope(String)

  /// Returns the message for a bean whose scope is not open.
  static func notOpen(_ scope: String, _ label: String) -> String {
    "\(label) lives in scope '\(scope)', which is not open here: it opens with a child of '\(scope)' (withChild, build)"
  }

  init(_ name: String) {
    self =
      switch name {
      case "singleton": .singleton
      case "prototype": .prototype
      default: .scope(name)
      }
  }

  var name: String {
    switch self {
    case .singleton: "singleton"
    case .prototype: "prototype"
    case .scope(let name): name
    }
  }

  /// Whether the container reserves the name, so that no scope of a user or a factory may have it.
  static func isBuiltIn(_ name: String) -> Bool { name == "singleton" || name == "prototype" }

  /// Whether the name always belongs to the children of some factory, which may be declared by an environment further
  /// in.
  static func isFactoryScope(_ name: String) -> Bool { name == "request" || name == "session" }
}
