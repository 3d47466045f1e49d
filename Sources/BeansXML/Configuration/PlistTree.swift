import Beans
import Foundation

/// The values of a parsed property list as a tree. Foundation returns no lines, and dictionaries without an order.
enum PlistTree {
  /// Returns the tree of a value. The recursion is safe, because Foundation's parser rejects lists that are nested too
  /// deep for it.
  static func make(_ value: Any) -> ConfigurationTree {
    let content: ConfigurationTree.Content =
      switch value {
      case let object as [String: Any]:
        .object(object.sorted { $0.key < $1.key }.map { .init(key: $0.key, line: nil, value: make($0.value)) })
      case let array as [Any]: .array(array.map(make))
      case let text as String: .scalar(text)
      case let date as Date: .scalar(date)
      case let data as Data: .scalar(data)
      case let number as NSNumber: .scalar(scalar(number))
      case is NSNull: .null
      default: .invalid("is a \(type(of: value)), which is no configuration value")
      }
    return ConfigurationTree(content, line: nil)
  }

  /// Returns the Swift value of a number. On Linux, numbers and Booleans arrive as `NSNumber`.
  private static func scalar(_ number: NSNumber) -> any Sendable {
    // Numbers of many digits arrive as decimals, whether they are whole or not.
    if let decimal = number as? NSDecimalNumber { return Int(decimal.stringValue) ?? decimal.doubleValue }
    // The text of the type is a constant of Foundation.
    switch unsafe String(cString: number.objCType) {
    case "c", "B": return number.boolValue
    case "d", "f": return number.doubleValue
    case "Q" where number.uint64Value > UInt64(Int.max): return number.uint64Value
    default: return number.intValue
    }
  }
}
