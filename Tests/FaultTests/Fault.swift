import Beans
import Testing

/// One way to go wrong: what to do, and what comes of it. A row of the document.
struct Fault: Sendable, CustomTestStringConvertible {
  /// When the fault shows.
  enum Moment {
    /// When startup looks at the declarations, before anything is built.
    case checking
    /// When startup builds sources, scopes and post processors, before all other beans.
    case preparing
    /// When startup builds the beans.
    case building
    /// In a call of the user's.
    case calling
  }

  let code: EnvironmentError.Code
  let cause: String
  let moment: Moment
  /// Whether the error says where the declaration at fault is written, or the call; an end has no place.
  let hasOrigin: Bool
  private let body: @Sendable (Environment) async throws -> Void

  var testDescription: String { "\(code): \(cause)" }
  var isOfStartup: Bool { moment != .calling }

  /// A fault that startup finds: `declare` is handed an environment called "shop", which is started after it.
  static func startup(
    _ code: EnvironmentError.Code, _ cause: String, when moment: Moment = .checking,
    _ declare: @escaping @Sendable (Environment) throws -> Void
  ) -> Fault {
    Fault(code: code, cause: cause, moment: moment, hasOrigin: true, body: declare)
  }

  /// A fault that a call answers with, at once: `call` is handed an environment called "shop", which has not started.
  static func call(
    _ code: EnvironmentError.Code, _ cause: String, hasOrigin: Bool = true,
    _ call: @escaping @Sendable (Environment) throws -> Void
  ) -> Fault {
    Fault(code: code, cause: cause, moment: .calling, hasOrigin: hasOrigin, body: call)
  }

  /// A fault that a call answers with which waits, as `call`.
  static func awaiting(
    _ code: EnvironmentError.Code, _ cause: String,
    _ call: @escaping @Sendable (Environment) async throws -> Void
  ) -> Fault {
    Fault(code: code, cause: cause, moment: .calling, hasOrigin: true, body: call)
  }

  /// Does it, and returns what is thrown.
  func inject(in shop: Environment) async throws -> EnvironmentError {
    if isOfStartup { try await body(shop) }
    return try await #require(throws: EnvironmentError.self, "\(testDescription)") {
      if isOfStartup { try shop.startup() } else { try await body(shop) }
    }
  }

  /// Does it in an environment of its own, which is gone afterwards.
  func inject() async throws -> EnvironmentError {
    let shop = try Environment(name: "shop")
    let error = try await inject(in: shop)
    try? await shop.shutdown()
    return error
  }

  /// In the order of the document.
  static let all =
    beans + types + conversions + configuration + cycles + lifetimes + awaited + states + building + declarations
    + documents
}
