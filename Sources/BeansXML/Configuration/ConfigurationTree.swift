import Beans
import Foundation

/// The objects and arrays of a configuration file, flattened to configuration items.
///
/// Objects within objects become dotted keys: `{"server": {"port": 80}}` is `server.port`. A key of the outermost
/// object may begin with a namespace: `{"shop:mail": {"host": "…"}}` is `mail.host` in `shop`. An array of scalars is
/// one value. A null is no value.
struct ConfigurationTree {
  private(set) var items: [ConfigurationItem] = []
  /// The keys without a valid value, each with the reason.
  private(set) var faults: [String] = []

  init(_ root: [String: Any]) {
    for (name, value) in root.sorted(by: { $0.key < $1.key }) {
      let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let namespace = parts.count == 2 ? String(parts[0]) : ""
      add(namespace, String(parts.last ?? ""), value)
    }
  }

  /// Adds the items of a value. The recursion is safe, because the parsers reject files that are nested too deep for
  /// it.
  private mutating func add(_ namespace: String, _ key: String, _ value: Any) {
    let name = namespace.isEmpty ? key : "\(namespace):\(key)"
    if value is NSNull { return }
    if key.isEmpty || key.hasSuffix(".") { return faults.append("the key '\(name)' is empty") }
    if let object = value as? [String: Any] {
      for (part, value) in object.sorted(by: { $0.key < $1.key }) { add(namespace, "\(key).\(part)", value) }
    } else if let array = value as? [Any] {
      guard let list = Self.list(array) else {
        return faults.append("'\(name)' is not an array of texts, of numbers or of truth values")
      }
      items.append(ConfigurationItem(namespace: namespace, key: key, value: list))
    } else if let scalar = Self.scalar(value) {
      items.append(ConfigurationItem(namespace: namespace, key: key, value: scalar))
    } else {
      faults.append("'\(name)' is a \(type(of: value)), which is no configuration value")
    }
  }

  /// Returns the Swift value of a parsed Foundation value. On Linux, numbers and Booleans arrive as `NSNumber`.
  private static func scalar(_ value: Any) -> (any Sendable)? {
    switch value {
    case let text as String: text
    case let date as Date: date
    case let data as Data: data
    case let number as NSNumber: scalar(number)
    default: nil
    }
  }

  private static func scalar(_ number: NSNumber) -> any Sendable {
    // Numbers of many digits arrive as decimals, whether they are whole or not.
    if let decimal = number as? NSDecimalNumber { return Int(decimal.stringValue) ?? decimal.doubleValue }
    switch unsafe String(cString: number.objCType) {
    case "c", "B": return number.boolValue
    case "d", "f": return number.doubleValue
    case "Q" where number.uint64Value > UInt64(Int.max): return number.uint64Value
    default: return number.intValue
    }
  }

  /// Returns an array of one type. Mixed whole and other numbers become `Double`.
  private static func list(_ array: [Any]) -> (any Sendable)? {
    let scalars = array.compactMap { $0 is NSNull ? nil : scalar($0) }
    guard scalars.count == array.count else { return nil }
    if let texts = scalars as? [String] { return texts }
    if let truths = scalars as? [Bool] { return truths }
    if let numbers = scalars as? [Int] { return numbers }
    let numbers = scalars.compactMap { ($0 as? Double) ?? ($0 as? Int).map { Double($0) } }
    return numbers.count == array.count ? numbers : nil
  }
}
