package import BeansErrors

/// Configuration values in code: `environment.define(environment.settings().setValue(key: "port", value: 80))`.
///
/// Settings cannot overrule values of sources added before them. Confined to one thread until defined.
public final class Settings {
  package let origin: EnvironmentError.Origin
  private var items: [ConfigurationItem] = []

  package init(file: StaticString, line: UInt) { origin = EnvironmentError.Origin(file: "\(file)", line: Int(line)) }

  /// Adds a value.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - value: the value, which any thread may read: several threads must be able to share it.
  @discardableResult
  public func setValue(namespace: String = "", key: String, value: Any) -> Self {
    // The two types have the same representation; the user is responsible for sharing the value between threads.
    let shared = unsafe unsafeBitCast(value as Any, to: (any Sendable).self)
    items.append(ConfigurationItem(namespace: namespace, key: key, value: shared))
    return self
  }

  /// Adds the current values to the manager, on behalf of a module if one defines them.
  package func add(to manager: ConfigurationManager, in module: String? = nil) throws {
    var origin = origin
    origin.module = module
    do {
      try manager.load(Source(url: "\(origin)", items: items))
    } catch let error as EnvironmentError {
      throw error.with { $0.origin = origin }
    }
  }

  private final class Source: ConfigurationSource {
    let url: String
    let canOverrule = false
    private let items: [ConfigurationItem]

    init(url: String, items: [ConfigurationItem]) {
      self.url = url
      self.items = items
    }

    func load(_ manager: ConfigurationManager) throws {
      for item in items { try manager.configurationAdded(item, source: self) }
    }
  }
}
