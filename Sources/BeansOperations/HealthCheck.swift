/// A question that a service asks itself again and again: whether it can do its work.
///
/// Declare it as a bean of the application; `Operations` finds it by this protocol. It is asked on a schedule, never because
/// of a probe, so its cost does not depend on who looks. The error that it throws is the reason that the log, `/health` and the
/// operations page show.
///
/// ```swift
/// final class StoreCheck: HealthCheck {
///   let name = "store"
///   private let store: Store
///   init(store: Store) { self.store = store }
///   func check() async throws { try store.read("SELECT 1") }
/// }
/// ```
public protocol HealthCheck: AnyObject, Sendable {
  /// What reports and metrics call it.
  var name: String { get }
  /// Which probe it speaks to.
  var probe: HealthProbe { get }
  /// Whether the probe fails where the check does.
  var isCritical: Bool { get }
  /// How long after one answer it is asked again.
  var interval: Duration { get }

  /// Returns where all is well. Runs on threads of Dispatch of its own, so it may block; one call after the other. The
  /// environment is not released before it returns; it is cancelled at the end.
  ///
  /// - Throws: why it is not.
  func check() async throws
}

extension HealthCheck {
  /// `ready`.
  public var probe: HealthProbe { .ready }
  /// True.
  public var isCritical: Bool { true }
  /// Five seconds.
  public var interval: Duration { .seconds(5) }
}

/// What an orchestrator asks a service for.
public enum HealthProbe: String, Sendable {
  /// `/livez`: whether it has to be started anew. Not for what lies outside: a database that is away would have every
  /// instance started anew.
  case alive
  /// `/readyz`: whether it is to be sent requests.
  case ready
}
