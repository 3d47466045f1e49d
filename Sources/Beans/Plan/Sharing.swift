import BeansSupport

// Which beans several threads are handed, and what is known of them.
extension BeanDirectory {
  /// Beans declared here that several threads share although their type is not known to be `Sendable`, as far as their
  /// declarations say nothing else.
  ///
  /// - Parameter below: the beans of all factories below.
  func sharedBeans(_ below: [BeanDirectory]) -> [Entry] {
    entries.filter { $0.options?.sharing == nil && needsSendable($0, below) }
  }

  func needsSendable(_ bean: Entry, _ below: [BeanDirectory]) -> Bool {
    !bean.isSeed && !bean.traits.contains(.sendable) && isShared(bean.lifetime, below)
  }

  /// Requests run side by side: what lives as long as several of them is handed to several threads.
  private func isShared(_ lifetime: Lifetime, _ below: [BeanDirectory]) -> Bool {
    guard case .scope(let name) = lifetime else { return lifetime == .singleton }
    if name == "session" || below.contains(where: { $0.parent?.scopeName == name }) { return true }
    let isOfFactory = Lifetime.isFactoryScope(name) || scopeName == name || below.contains { $0.scopeName == name }
    return !isOfFactory
  }

  func sharingFaults(_ below: [BeanDirectory]) -> [EnvironmentError] {
    sharedBeans(below).map { bean in
      bean.fault(
        .notSendable,
        "\(bean.label) (\(bean.lifetime.name)) is handed to several threads, but its type is not known to be Sendable: make it so, "
          + "or mark the declaration with .confined(to:) or .assumeSendable(…)")
    }
  }
}

extension Plan {
  /// The beans declared for an environment, or for a factory's children below it, that several threads share without being
  /// known to be `Sendable`.
  var sharedBeans: [BeanDirectory.Entry] { shared { $0.sharedBeans($1) } }

  var sharingFaults: [EnvironmentError] { shared { $0.sharingFaults($1) } }

  private func shared<Found>(_ find: (BeanDirectory, [BeanDirectory]) -> [Found]) -> [Found] {
    find(directory, below) + below.flatMap { inner in find(inner, below.filter { $0.isInside(inner) }) }
  }
}

extension BeanDirectory {
  fileprivate func isInside(_ outer: BeanDirectory) -> Bool {
    parent.map { $0 === outer || $0.isInside(outer) } ?? false
  }
}

/// What a startup checks beyond the graph, and what it keeps of itself.
public struct StartupOptions: OptionSet, Sendable {
  /// A bit for each option.
  public let rawValue: Int

  /// Options by their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Refuses singletons, beans of sessions and of other scopes that several requests share, here and in the children of
  /// factories declared here, whose type the compiler does not know to be `Sendable`.
  ///
  /// It knows the type from `define`. A declaration that says `.confined(to:)` or `.assumeSendable(_:)` is not refused.
  public static let requireSendable = StartupOptions(rawValue: 1)

  /// Keeps how long each bean took to build, for `Environment.startupTimes`.
  public static let recordTimes = StartupOptions(rawValue: 2)
}
