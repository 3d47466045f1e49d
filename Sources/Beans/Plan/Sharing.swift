import BeansErrors

// The beans that several threads share, and whether their types are `Sendable`.
extension BeanDirectory {
  /// Returns the beans that several threads share, that are not known to be `Sendable`, and whose declarations do not
  /// permit it: those declared here, then those of factories' children.
  ///
  /// - Parameter below: the directories of all factories below.
  func sharedBeans(with below: ArraySlice<BeanDirectory>) -> [BeanDefinition] {
    ([self] + below).flatMap { home in
      home.beans.filter { bean in
        !bean.traits.contains(.sendable) && bean.sharing == nil && home.isShared(bean.lifetime, below)
      }
    }
  }

  /// Whether several threads may share a bean of this lifetime. A request belongs to the task that runs it, unless
  /// factories open children in the request: those run concurrently.
  private func isShared(_ lifetime: Lifetime, _ below: ArraySlice<BeanDirectory>) -> Bool {
    guard case .scope(let name) = lifetime else { return lifetime == .singleton }
    return name != "request" || below.contains { $0.parent?.scopeName == name && $0.isInside(self) }
  }

  private func isInside(_ outer: BeanDirectory) -> Bool {
    depth > outer.depth && ancestor(depth - outer.depth) === outer
  }

  func sharingFaults(with below: ArraySlice<BeanDirectory>) -> [EnvironmentError] {
    sharedBeans(with: below).map { bean in
      let subject = if bean.isSeed { "the seed \(bean.label)" } else { bean.label }
      let help =
        bean.isSeed
        ? "make it so, or open the children with a value that is"
        : "make it so, or mark the declaration with .assumeSendable(…)"
      return bean.fault(
        .notSendable,
        "\(subject) (\(bean.lifetime.name)) is handed to several threads, but its type is not known to be Sendable: \(help)"
      )
    }
  }
}

extension Plan {
  /// The beans declared for an environment, or for a factory's children below it, that several threads share without
  /// being known to be `Sendable`.
  var sharedBeans: [BeanDefinition] { directory.sharedBeans(with: below) }

  var sharingFaults: [EnvironmentError] { directory.sharingFaults(with: below) }
}

/// A check of a startup beyond the graph, or a record that a startup keeps.
public enum StartupOption: Sendable {
  /// Refuses beans and seeds that several threads may share and whose type the compiler does not know to be `Sendable`,
  /// here and in the children of factories declared here. These are singletons, and the beans and the seed of every
  /// scope but "request". Beans and seeds of requests are refused where a factory opens children in a request.
  ///
  /// The compiler knows the type from `define` and from `childFactory`. A declaration with `.assumeSendable(_:)` is not
  /// refused.
  case requireSendable
  /// Records the build time of each bean, for `/startup` of `BeansOperations`.
  case recordTimes
}
