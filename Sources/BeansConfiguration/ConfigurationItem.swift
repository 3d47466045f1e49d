/// One value of a source.
public struct ConfigurationItem: Sendable {
  /// The first part of the name; empty for values without a namespace.
  public let namespace: String
  /// The name within the namespace.
  public let key: String
  /// The value; converted to the requested type when it is read.
  package let value: any Sendable
  /// The scope of the value: a dotted path, searched from the specific to the general; empty for everywhere.
  package let scope: String
  /// Whether the source may change the value later. For reports; a dynamic value is read like any other.
  package let dynamic: Bool
  /// Whether the value is a secret, which reports, faults and logs do not contain.
  package let isSecret: Bool
  /// The line of the value in its source, from 1; nil if the source has no lines.
  public let line: Int?
  /// The number, or the list of numbers, with the spelling of a file; nil for any other value.
  package private(set) var spelled: (any Sendable)?

  /// Creates an item.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - value: the value, of any type; it is converted when it is read.
  ///   - scope: the scope of the value: a dotted path; empty for everywhere.
  ///   - dynamic: true if the source may change the value later.
  ///   - isSecret: true if the value must not be shown; see `ConfigurationManager.markSecret(namespace:key:)`.
  ///   - line: the line of the value in its source, from 1.
  public init(
    namespace: String = "", key: String, value: any Sendable, scope: String = "", dynamic: Bool = false,
    isSecret: Bool = false, line: Int? = nil
  ) {
    self.namespace = namespace
    self.key = key
    self.value = value
    self.scope = scope
    self.dynamic = dynamic
    self.isSecret = isSecret
    self.line = line
  }

  /// Returns the item with the spelling of its numbers.
  func spelled(as spelled: (any Sendable)?) -> ConfigurationItem {
    var item = self
    item.spelled = spelled
    return item
  }

  /// Returns an item that takes back the value of a key: readers get neither the values of earlier sources nor those of
  /// parents, but their default. The null of a JSON file is such an item.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key without a value.
  ///   - scope: the scope, as of a value.
  ///   - line: the line in the source, from 1.
  public static func absent(
    namespace: String = "", key: String, scope: String = "", line: Int? = nil
  ) -> ConfigurationItem {
    ConfigurationItem(namespace: namespace, key: key, value: Absent(), scope: scope, line: line)
  }

  /// Returns an item for a list whose elements are items of their own, at `servers.0.host`, `servers.1.host`. The list is
  /// one value: the elements that earlier sources and parents have of a list at this key are hidden, while a later source
  /// may change one value of an element. The sources for files add such an item for each array of objects.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the list.
  ///   - count: the number of elements, for reports.
  ///   - scope: the scope, as of a value.
  ///   - line: the line in the source, from 1.
  public static func list(
    namespace: String = "", key: String, count: Int, scope: String = "", line: Int? = nil
  ) -> ConfigurationItem {
    ConfigurationItem(namespace: namespace, key: key, value: Elements(count: count), scope: scope, line: line)
  }

  /// The content of an item that takes back a value.
  private struct Absent: Hashable, CustomStringConvertible { var description: String { "(none)" } }

  /// The content of an item for a list whose elements are items of their own.
  private struct Elements: Hashable, CustomStringConvertible {
    let count: Int
    var description: String { "(a list of \(count) element\(count == 1 ? "" : "s"))" }
  }

  /// Whether the key has no value of its own: the item takes back the value, or is a list of other items.
  var isWithoutValue: Bool { value is Absent || value is Elements }

  /// The text for reports of an item without a value of its own; nil for any other item.
  var summary: String? { isWithoutValue ? "\(value)" : nil }

  var qualifiedKey: QualifiedKey { QualifiedKey(namespace: namespace, key: key) }

  /// Whether a reader could not tell the item from another one. Values that cannot be compared are different. Runs the
  /// comparison of the values' type.
  func isSame(as other: ConfigurationItem) -> Bool {
    guard let left = (spelled ?? value) as? any Hashable, let right = (other.spelled ?? other.value) as? any Hashable
    else { return false }
    return isSecret == other.isSecret && AnyHashable(left) == AnyHashable(right)
  }
}
