import BeansLogging
@_spi(BeansPackage) import BeansSupport

/// Stored values that count as absent: each name is logged once, and all of them are counted.
///
/// After a change of a schema there may be one in every session of the store.
final class UnreadableValues: Sendable {
  private static let logger = LogManager.getLogger(forName: "Beans.Sessions")
  private let state = Locked<(names: Set<String>, count: Int)>(([], 0))

  var count: Int { state.withLock { $0.count } }

  /// Names neither the session nor what is kept.
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
      "what a session has kept as '\(declaration.name)' \(fault): it counts as absent there, and in others without a word"
    )
  }
}
