/// Where configuration values come from.
///
/// Add one with `Environment.addConfigurationSource`, or declare it as a bean: then it is built, and added, before
/// anything else of its environment.
public protocol ConfigurationSource: AnyObject, Sendable {
  /// Names the source in reports and errors.
  var url: String { get }
  /// Whether values of this source replace those of sources added before it.
  var canOverrule: Bool { get }
  /// Hands all values to `manager.configurationAdded`. Called once, when the source is added, on the adding thread. A
  /// source that changes later keeps the manager, and calls `configurationChanged`.
  ///
  /// - Throws: whatever failed: all that the source has added is undone, and whoever adds the source gets the error.
  func load(_ manager: ConfigurationManager) throws
}
