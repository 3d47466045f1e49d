import BeansErrors

// Which beans several threads are handed, and what is known of them.
extension BeanDirectory {
  /// Beans declared here that several threads share although their type is not known to be `Sendable`, as far as their
  /// declarations say nothing else.
  ///
  /// - Parameter below: the beans of all factories below, which few beans depend on.
  func sharedBeans(_ below: () -> ArraySlice<BeanDirectory>) -> [Entry] {
    entries.filter { $0.options?.sharing == nil && needsSendable($0, below) }
  }

  private func needsSendable(_ bean: Entry, _ below: () -> ArraySlice<BeanDirectory>) -> Bool {
    !bean.traits.contains(.sendable) && isShared(bean.lifetime, below)
  }

  /// Whether several threads may share what lives so long: only a request belongs to the task that runs it, unless factories open
  /// children in it, which run side by side.
  private func isShared(_ lifetime: Lifetime, _ below: () -> ArraySlice<BeanDirectory>) -> Bool {
    guard case .scope(let name) = lifetime else { return lifetime == .singleton }
    return name != "request" || below().contains { $0.parent?.scopeName == name }
  }

  func sharingFaults(_ below: () -> ArraySlice<BeanDirectory>) -> [EnvironmentError] {
    sharedBeans(below).map { bean in
      let subject = bean.isSeed ? "the seed \(bean.label)" : bean.label
      let help =
        bean.isSeed
        ? "make it so, or open the children with a value that is"
        : "make it so, or mark the declaration with .confined(to:) or .assumeSendable(…)"
      return bean.fault(
        .notSendable,
        "\(subject) (\(bean.lifetime.name)) is handed to several threads, but its type is not known to be Sendable: \(help)"
      )
    }
  }
}

extension Plan {
  /// The beans declared for an environment, or for a factory's children below it, that several threads share without being
  /// known to be `Sendable`.
  var sharedBeans: [BeanDirectory.Entry] { shared { $0.sharedBeans($1) } }

  var sharingFaults: [EnvironmentError] { shared { $0.sharingFaults($1) } }

  private func shared<Found>(_ find: (BeanDirectory, () -> ArraySlice<BeanDirectory>) -> [Found]) -> [Found] {
    find(directory) { below } + below.flatMap { inner in find(inner) { below.filter { $0.isInside(inner) }[...] } }
  }
}

extension BeanDirectory {
  fileprivate func isInside(_ outer: BeanDirectory) -> Bool {
    depth > outer.depth && ancestor(depth - outer.depth) === outer
  }
}

/// What a startup checks beyond the graph, and what it keeps of itself.
public struct StartupOptions: OptionSet, Sendable {
  /// A bit for each option.
  public let rawValue: Int

  /// Options by their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Refuses what several threads may share, here and in the children of factories declared here, and whose type the compiler does
  /// not know to be `Sendable`: singletons, and the beans and the seed of every scope but "request". Beans and seeds of requests
  /// are refused where a factory opens children in a request.
  ///
  /// The compiler knows the type from `define` and from `childFactory`. A declaration that says `.confined(to:)` or `.assumeSendable(_:)` is not refused.
  public static let requireSendable = StartupOptions(rawValue: 1)

  /// Keeps how long each bean took to build, for `Environment.startupTimes`.
  public static let recordTimes = StartupOptions(rawValue: 2)
}
