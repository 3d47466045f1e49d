import Beans

/// A configuration source with the values of one `<configuration:configuration>`.
final class XMLConfigurationSource: ConfigurationSource {
  /// The place of the element.
  let url: String
  let canOverrule = true
  private let items: [ConfigurationItem]

  init(_ items: [ConfigurationItem], url: String) {
    self.items = items
    self.url = url
  }

  func load(_ manager: ConfigurationManager) throws {
    for item in items { try manager.configurationAdded(item, source: self) }
  }
}
