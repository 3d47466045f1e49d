@_spi(BeansPackage) import BeansErrors
import BeansLogging

/// A value of the configuration, or a section as a type, that is read at each use: after a reload, its holder gets the
/// new value without a listener.
///
/// Get one from `ConfigurationManager`, or let the container inject it: as a bean declared by
/// `define(ConfigurationValue<MailSettings>.self, configuration: "mail")`, as an argument or property with the text
/// `${mail.timeout}`, or by `InjectConfigurationValue` of `BeansInject`.
public final class ConfigurationValue<Value: Sendable>: Sendable {
  private let manager: ConfigurationManager
  private let name: String
  private let read: @Sendable (ConfigurationManager) throws -> Value
  private let state: Locked<State>

  private struct State {
    var value: Value
    /// The number of changes of the configuration before the reading.
    var changeCount: Int
    /// Whether some source has to be asked again at each use.
    var isAsked: Bool
  }

  /// Reads the value for the first time.
  init(
    _ name: String, of manager: ConfigurationManager,
    _ read: @escaping @Sendable (ConfigurationManager) throws -> Value
  ) throws {
    self.manager = manager
    self.name = name
    self.read = read
    let changeCount = manager.changeCount
    state = Locked(
      State(value: try read(manager), changeCount: changeCount, isAsked: manager.hasAskedSources))
  }

  /// The current value. If the configuration has changed and has no valid value any more, an error is logged, and the
  /// last valid value stays.
  ///
  /// Callable from any thread. Costs a lock, and after a change of any value of the configuration the reading of this
  /// one.
  public var value: Value {
    let changeCount = manager.changeCount
    let known = state.withLock { $0 }
    if known.changeCount == changeCount, !known.isAsked { return known.value }
    do {
      let (value, isAsked) = (try read(manager), manager.hasAskedSources)
      // A reader that began later may have stored a later value.
      return state.withLock { state in
        if state.changeCount <= changeCount { state = State(value: value, changeCount: changeCount, isAsked: isAsked) }
        return state.value
      }
    } catch {
      let isNew = state.withLock { state in
        defer { state.changeCount = max(state.changeCount, changeCount) }
        return state.changeCount < changeCount
      }
      if isNew {
        LogManager.getLogger(forName: "Beans.Configuration").error(
          "\(name) has no valid value any more, the last one stays: \(error)")
      }
      return known.value
    }
  }
}

/// A type of values that are read at use, whatever the type of the value.
protocol ReadAtUse {
  /// Creates an instance.
  ///
  /// - Parameters:
  ///   - manager: the configuration.
  ///   - name: the name of the value in logs.
  ///   - read: reads a value of the type that it is given.
  static func make(
    of manager: ConfigurationManager, _ name: String,
    _ read: @escaping @Sendable (ConfigurationManager, Any.Type) throws(EnvironmentError) -> Any
  ) throws(EnvironmentError) -> Any
}

extension ConfigurationValue: ReadAtUse {
  static func make(
    of manager: ConfigurationManager, _ name: String,
    _ read: @escaping @Sendable (ConfigurationManager, Any.Type) throws(EnvironmentError) -> Any
  ) throws(EnvironmentError) -> Any {
    do {
      return try ConfigurationValue(name, of: manager) { manager in
        let value = try read(manager, Value.self)
        if let value = value as? Value { return value }
        throw EnvironmentError(.typeMismatch, "\(name) is not a \(Value.self)")
      }
    } catch let error as EnvironmentError { throw error } catch {
      throw EnvironmentError(.conversionFailed, "\(name): \(error)", underlying: [error])
    }
  }
}

extension ConfigurationManager {
  /// Returns a value that is read at each use.
  ///
  /// - Parameters:
  ///   - type: the target type of the conversion.
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - defaultValue: the result if there is no value.
  ///   - scope: the scope of the value, as in `getValue`.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: as `getValue`, if there is no valid value now.
  public func currentValue<T: Sendable>(
    _ type: T.Type, namespace: String = "", key: String, defaultValue: T? = nil, scope: String = "",
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> ConfigurationValue<T> {
    try ConfigurationValue("'\(QualifiedKey(namespace: namespace, key: key))'", of: self) { manager in
      try manager.getValue(
        T.self, namespace: namespace, key: key, defaultValue: defaultValue, scope: scope, file: file, line: line)
    }
  }

  /// Returns the type itself, or the one that an optional wraps, if its values are read at use.
  static func readAtUse(_ type: Any.Type) -> (any ReadAtUse.Type)? {
    ((type as? any OptionalConversion.Type)?.wrappedType ?? type) as? any ReadAtUse.Type
  }

  /// Whether values may change without a call, here or above.
  var hasAskedSources: Bool { chain.contains { $0.state.withLock { !$0.store.asked.isEmpty } } }
}
