/// A source of configuration values.
///
/// Add one with `Environment.addConfigurationSource`, or declare it as a bean: then the environment builds and adds it
/// before its other beans.
public protocol ConfigurationSource: AnyObject, Sendable {
  /// The name of the source in reports and errors.
  var url: String { get }
  /// Whether values of this source override those of sources added before it; true by default.
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
  /// Whether the manager asks the source for each key at each read, because the source cannot list its keys; false by
  /// default. Read when the source is added.
  ///
  /// Sections are read as types, which name their keys; the keys of a dictionary are not found in such a source. A
  /// listener is called for its values only if the source calls `configurationChanged`; a `ConfigurationValue` asks at
  /// each use.
  var isAsked: Bool { get }
  /// Returns the value of a key of a source that is asked; nil if the source has none, as by default.
  ///
  /// Called on the thread that reads, with no lock held: it must not wait.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - scope: the scope of the value, exactly; empty for everywhere.
  func value(namespace: String, key: String, scope: String) -> (any Sendable)?
}

extension ConfigurationSource {
  /// The values override those of sources added before.
  public var canOverrule: Bool { true }
  /// No names beside the keys themselves.
  public var spelling: KeySpelling { .exact }
  /// Not every value is a secret.
  public var isSecret: Bool { false }
  /// The source lists its keys.
  public var isAsked: Bool { false }
  /// Returns nil: the source lists its keys.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - scope: the scope of the value.
  public func value(namespace: String, key: String, scope: String) -> (any Sendable)? { nil }
}
