package import BeansErrors

/// Configuration values written down in code: `environment.define(environment.settings().setValue(key: "port", value: 80))`.
///
/// They cannot overrule values of sources added before them. Written on one thread, until defined.
public final class Settings {
  package let origin: EnvironmentError.Origin
  private var items: [ConfigurationItem] = []

  package init(file: StaticString, line: UInt) { origin = EnvironmentError.Origin(file: "\(file)", line: Int(line)) }

  /// Adds a value.
  ///
  /// - Parameters:
  ///   - namespace: where the key stands.
  ///   - key: names the value.
  ///   - value: is read by any thread: give it what several threads can share.
  @discardableResult
  public func setValue(namespace: String = "", key: String, value: Any) -> Self {
    // The two types have the same representation, and the user answers for what several threads read.
    let shared = unsafe unsafeBitCast(value as Any, to: (any Sendable).self)
    items.append(ConfigurationItem(namespace: namespace, key: key, value: shared))
    return self
  }

  /// Hands the values over as they are now, in the name of a module if one defines them.
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
