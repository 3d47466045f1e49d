@_spi(BeansPackage) import BeansErrors
import BeansLogging

/// Stored values that are treated as absent. Each name is logged once, and every value is counted.
///
/// After a change of a schema, every session of the store may contain such a value.
final class UnreadableValues: Sendable {
  private static let logger = LogManager.getLogger(forName: "Beans.Sessions")
  private let state = Locked<(names: Set<String>, count: Int)>(([], 0))

  var count: Int { state.withLock { $0.count } }

  /// Counts a value and logs its name. The log contains neither the session nor the value.
  func note(_ declaration: SessionValueDeclaration, _ type: Any.Type, _ reason: SessionValueCoding.Unreadable) {
    let isFirst = state.withLock { state in
      state.count += 1
      return state.names.insert(declaration.name).inserted
    }
    guard isFirst else { return }
    let fault =
      switch reason {
      case .otherSchema: "is not of schema '\(declaration.schema)'"
      case .noValue: "cannot be decoded as \(type)"
      }
    Self.logger.warn(
      "the session value '\(declaration.name)' \(fault): it is read as absent; further sessions are not logged"
    )
  }
}
