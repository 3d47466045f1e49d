// listing
import Beans
import Metrics
import Synchronization
import Tracing

/// Records the children of some scopes: their number, durations and spans. Also records creations and failed releases.
final class ScopeTelemetry: EnvironmentObserver {
  private struct Scope {
    let open: Meter, completed: Timer, failed: Timer

    init(_ name: String) {
      open = Meter(label: "beans_open", dimensions: [("scope", name)])
      completed = Timer(label: "beans_duration", dimensions: [("scope", name), ("outcome", "completed")])
      failed = Timer(label: "beans_duration", dimensions: [("scope", name), ("outcome", "failed")])
    }
  }

  private let scopes: [String: Scope]
  private let releaseFailures = Counter(label: "beans_release_failures")
  private let spans = Mutex<[ObjectIdentifier: any Span]>([:])

  init(scopes: Set<String>) {
    self.scopes = Dictionary(uniqueKeysWithValues: scopes.map { ($0, Scope($0)) })
  }

  /// Returns the context of the child's span, for spans inside of it.
  func context(of child: Environment) -> ServiceContext? {
    spans.withLock { $0[ObjectIdentifier(child)]?.context }
  }

  func childOpened(_ child: Environment) {
    guard let scope = scopes[child.name] else { return }
    scope.open.increment()
    let span = startSpan(child.name)
    spans.withLock { $0[ObjectIdentifier(child)] = span }
  }

  func childEnded(
    _ child: Environment, outcome: ScopeOutcome, beans: Int, start: ContinuousClock.Instant, duration: Duration
  ) {
    guard let scope = scopes[child.name] else { return }
    scope.open.decrement()
    let span = spans.withLock { $0.removeValue(forKey: ObjectIdentifier(child)) }
    span?.attributes["beans"] = beans
    if case .failed(let error) = outcome {
      scope.failed.record(duration: duration)
      span?.recordError(error)
      span?.setStatus(SpanStatus(code: .error))
    } else {
      scope.completed.record(duration: duration)
    }
    span?.end()
  }

  func creationEnded(
    of bean: String, declaredAt origin: EnvironmentError.Origin, in environment: Environment, error: (any Error)?,
    start: ContinuousClock.Instant, duration: Duration
  ) {
    Timer(label: "beans_creation", dimensions: [("bean", bean)]).record(duration: duration)
  }

  func releaseFailed(_ failure: any Error, in environment: Environment) { releaseFailures.increment() }
}
// end
