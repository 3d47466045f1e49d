public import Beans

/// A configuration source with the values of a JSON file; see `JSONText` for the form of keys and values.
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
  /// Reads the file, of at most 8 MiB, once.
  ///
  /// - Throws: `.missingConfiguration` where the file cannot be read; `.conversionFailed` with file, line and column
  ///   where it is not JSON, or contains a value that cannot be a configuration value.
  public func load(_ manager: ConfigurationManager) throws {
    for item in try JSONText.items(from: FileContent.read(path), path: path) {
      try manager.configurationAdded(item, source: self)
    }
  }
}
