public import Beans
import Foundation

/// A configuration source with the values of a JSON file.
///
/// Objects within objects become dotted keys, and a key of the outermost object may begin with a namespace: `{"port":
/// 80, "shop:mail": {"host": "…"}}` contains `port`, and `mail.host` in the namespace `shop`. Values are strings,
/// numbers, Booleans and arrays of one of them; null is no value.
///
/// Pass the source to `addConfigurationSource`, or declare it as a bean and set the property `path`.
public final class JSONConfigurationSource: ConfigurationSource, Initializable, @unchecked Sendable {
  // `path` is written only by the thread that makes the source, before the source is shared.
  private var path = ""

  /// Creates a source for a bean whose property `path` is set.
  public init() {}

  /// Creates a source for a file: an absolute path, or one relative to the current folder.
  public init(path: String) { self.path = path }

  /// The path of the file.
  public var url: String { path }
  /// A file replaces values of sources added before it.
  public var canOverrule: Bool { true }

  /// Reads the file, of at most 8 MiB, once.
  ///
  /// - Throws: `.missingConfiguration` where the file cannot be read; `.conversionFailed` with file, line and column
  ///   where it is not JSON, or contains a value that cannot be a configuration value.
  public func load(_ manager: ConfigurationManager) throws {
    let file = ConfigurationFile(path: path)
    let data = try file.read()
    do {
      try file.add(JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed), to: manager, from: self)
    } catch let error as NSError where error.domain == NSCocoaErrorDomain {
      let reason = error.userInfo["NSDebugDescription"] as? String ?? "malformed JSON"
      let (line, column) = Self.position(reason, in: data)
      throw file.malformed(reason, line: line, column: column)
    }
  }

  /// Returns the position of a parser error. Foundation's text contains "around character 8", counted in bytes, or an
  /// early end of the file, or no position.
  private static func position(_ reason: String, in data: Data) -> (line: Int, column: Int) {
    let words = reason.split { $0 == " " || $0 == "." }
    let number = words.last.flatMap { words.dropLast().last == "character" ? Int($0) : nil }
    let isTooShort = reason.contains("end of file")
    let before = data.prefix(min(number ?? (isTooShort ? data.count : 0), data.count))
    let lines = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return (max(lines.count, 1), String(decoding: lines.last ?? Data(), as: UTF8.self).count + 1)
  }
}
