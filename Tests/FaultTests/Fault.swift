import Beans
import Testing

/// One way to go wrong, and the resulting error. A row of the document.
struct Fault: Sendable, CustomTestStringConvertible {
  /// The time at which the fault is found.
  enum Moment {
    /// Startup checks the declarations, before anything is built.
    case checking
    /// Startup builds sources, scopes and post processors, before all other beans.
    case preparing
    /// Startup builds the beans.
    case building
    /// A call by the user.
    case calling
  }

  let code: EnvironmentError.Code
  let cause: String
  let moment: Moment
  /// Whether the error has the place of the faulty declaration or of the call; an end has no place.
  let hasOrigin: Bool
  private let body: @Sendable (Environment) async throws -> Void

  var testDescription: String { "\(code): \(cause)" }
  var isOfStartup: Bool { moment != .calling }

  /// Returns a fault that startup finds: `declare` gets an environment called "shop", which is started after it.
  static func startup(
    _ code: EnvironmentError.Code, _ cause: String, when moment: Moment = .checking,
    _ declare: @escaping @Sendable (Environment) throws -> Void
  ) -> Fault {
    Fault(code: code, cause: cause, moment: moment, hasOrigin: true, body: declare)
  }

  /// Returns a fault that a call throws at once: `call` gets an environment called "shop", which has not started.
  static func call(
    _ code: EnvironmentError.Code, _ cause: String, hasOrigin: Bool = true,
    _ call: @escaping @Sendable (Environment) throws -> Void
  ) -> Fault {
    Fault(code: code, cause: cause, moment: .calling, hasOrigin: hasOrigin, body: call)
  }

  /// Returns a fault that an awaiting call throws.
  static func awaiting(
    _ code: EnvironmentError.Code, _ cause: String,
    _ call: @escaping @Sendable (Environment) async throws -> Void
  ) -> Fault {
    Fault(code: code, cause: cause, moment: .calling, hasOrigin: true, body: call)
  }

  /// Causes the fault, and returns the error.
  func inject(in shop: Environment) async throws -> EnvironmentError {
    if isOfStartup { try await body(shop) }
    return try await #require(throws: EnvironmentError.self, "\(testDescription)") {
      if isOfStartup { try shop.startup() } else { try await body(shop) }
    }
  }

  /// Causes the fault in an environment of its own, which is gone afterwards.
  func inject() async throws -> EnvironmentError {
    let shop = try Environment(name: "shop")
    let error = try await inject(in: shop)
    try? await shop.shutdown()
    return error
  }

  /// All faults in the order of the document.
  static let all =
    beans + types + conversions + configuration + cycles + lifetimes + awaited + states + building + declarations
    + documents
}
