public import Beans
import Foundation

/// A configuration source with the values of a property list, XML or binary.
///
/// Keys of the outermost dictionary are `key` or `namespace:key`; dictionaries within become dotted keys, and elements of
/// arrays indexed keys, as in `JSONConfigurationSource`.
///
/// Pass the source to `addConfigurationSource`, or declare it as a bean and set the property `path` or `name`.
public final class PlistConfigurationSource: ConfigurationSource, Initializable, @unchecked Sendable {
  // All properties are written only by the thread that makes the source, before the source is shared.
  private var path = ""
  private var name = ""
  private var anchor: AnyClass?

  /// Creates a source for a bean whose property `path` or `name` is set.
  public init() {}

  /// Creates a source for a file: an absolute path, or one relative to the current folder.
  public init(path: String) { self.path = path }

  /// Creates a source for `name.plist` in the bundle of the process or of a class. Where the bundle has no such file,
  /// the source reads it from the folder of the executable or the current folder.
  public init(name: String, forClass anchor: AnyClass? = nil) {
    self.name = name
    self.anchor = anchor
  }

  /// The path of the file, or its name where `load` searches for it.
  public var url: String { path.isEmpty ? "\(name).plist" : path }
  /// A file replaces values of sources added before it.
  public var canOverrule: Bool { true }

  /// Reads the file, of at most 8 MiB, once.
  ///
  /// - Throws: `.missingConfiguration` where the file cannot be read; `.conversionFailed` with file and line where it
  ///   is no property list, or contains a value that cannot be a configuration value.
  public func load(_ manager: ConfigurationManager) throws {
    let file = ConfigurationFile(path: find())
    let data = Data(try FileContent.read(file.path))
    if var outline = BinaryPlistOutline(data), outline.isTooLarge() {
      throw file.fault("its values refer to each other too often or too deep", line: 1)
    }
    do {
      var format = PropertyListSerialization.PropertyListFormat.xml
      let content = try unsafe PropertyListSerialization.propertyList(from: data, options: [], format: &format)
      // Almost any text is a valid property list in the OpenStep format.
      guard format != .openStep else {
        throw file.fault("neither an XML nor a binary property list", line: 1)
      }
      for item in try file.items(of: PlistTree.make(content)) {
        try manager.configurationAdded(item, source: self)
      }
    } catch let error as NSError where error.domain == NSCocoaErrorDomain {
      let reason = error.userInfo["NSDebugDescription"] as? String ?? "malformed property list"
      throw file.fault(reason, line: Self.line(reason))
    }
  }

  private func find() -> String {
    if !path.isEmpty { return path }
    let bundle = anchor.map { Bundle(for: $0) } ?? .main
    if let found = bundle.path(forResource: name, ofType: "plist") { return found }
    let beside = bundle.executableURL?.deletingLastPathComponent().appendingPathComponent("\(name).plist").path
    return beside.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil } ?? "\(name).plist"
  }

  /// Returns the line of a parser error, from Foundation's text "… on line 3".
  private static func line(_ reason: String) -> Int {
    let words = reason.split { $0 == " " || $0 == "," || $0 == ";" || $0 == "." }
    guard let place = words.firstIndex(of: "line"), place + 1 < words.endIndex else { return 1 }
    return Int(words[place + 1]) ?? 1
  }
}
