/// A source of configuration values.
///
/// Add one with `Environment.addConfigurationSource`, or declare it as a bean: then the environment builds and adds it
/// before its other beans.
public protocol ConfigurationSource: AnyObject, Sendable {
  /// The name of the source in reports and errors.
  var url: String { get }
  /// Whether values of this source override those of sources added before it.
  var canOverrule: Bool { get }
  /// Passes all values to `manager.configurationAdded`. Called once, when the source is added, on the adding thread. A
  /// source that changes later keeps the manager, and calls `configurationChanged`.
  ///
  /// - Throws: any error: the manager then removes all values of the source, and rethrows the error to the caller that
  ///   adds it.
  func load(_ manager: ConfigurationManager) throws
  /// The names under which the source has keys, beside the keys themselves; none by default. Read when the source is
  /// added, and with each of its values.
  var spelling: KeySpelling { get }
  /// Whether all values of the source are secrets; false by default. Read with each value.
  var isSecret: Bool { get }
}

extension ConfigurationSource {
  /// No names beside the keys themselves.
  public var spelling: KeySpelling { .exact }
  /// Not every value is a secret.
  public var isSecret: Bool { false }
}
