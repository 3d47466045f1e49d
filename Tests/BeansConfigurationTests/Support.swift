import BeansConfiguration
@_spi(BeansPackage) import BeansErrors

/// A source with the items of a test.
final class FixedSource: ConfigurationSource {
  let url: String
  let canOverrule: Bool
  private let items: [ConfigurationItem]
  private let failure: (any Error)?

  init(_ url: String, canOverrule: Bool = false, _ items: [ConfigurationItem] = [], failing failure: (any Error)? = nil)
  {
    self.url = url
    self.canOverrule = canOverrule
    self.items = items
    self.failure = failure
  }

  convenience init(_ url: String, canOverrule: Bool = false, _ values: [String: any Sendable]) {
    self.init(url, canOverrule: canOverrule, values.map { ConfigurationItem(key: $0.key, value: $0.value) })
  }

  func load(_ manager: ConfigurationManager) throws {
    for item in items { try manager.configurationAdded(item, source: self) }
    if let failure { throw failure }
  }
}

/// Stores the values that closures on other threads see.
final class Seen<Value: Sendable>: Sendable {
  private let content = Locked<[Value]>([])

  func note(_ value: Value) { content.withLock { $0.append(value) } }

  var all: [Value] { content.withLock { $0 } }
}
