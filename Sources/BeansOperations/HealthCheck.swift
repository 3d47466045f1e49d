/// A periodic check of a service's ability to work.
///
/// Declare it as a bean of the application; `Operations` finds it by this protocol. It runs on a schedule, never
/// because of a probe, so its cost does not depend on the number of probes. The error that it throws is the reason in
/// the log, in `/health` and on the operations page.
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
  /// The name of the check in reports and metrics.
  var name: String { get }
  /// The probe that the check affects.
  var probe: HealthProbe { get }
  /// Whether the probe fails if the check does.
  var isCritical: Bool { get }
  /// The time between the end of one run and the start of the next.
  var interval: Duration { get }

  /// Returns if the check passes. Runs on Dispatch threads of its own, so it may block; runs are serial. The
  /// environment is not released before the check returns; the check is cancelled at the end.
  ///
  /// - Throws: the reason of the failure.
  func check() async throws
}

extension HealthCheck {
  /// The default, `ready`.
  public var probe: HealthProbe { .ready }
  /// Whether the probe fails if the check does; true by default.
  public var isCritical: Bool { true }
  /// The default, five seconds.
  public var interval: Duration { .seconds(5) }
}

/// A probe that an orchestrator sends to a service.
public enum HealthProbe: Sendable {
  /// The probe `/livez`: a failure restarts the service. Not for external resources: an unavailable database would
  /// restart every instance.
  case alive
  /// The probe `/readyz`: a failure stops requests to the service.
  case ready
}
