@_spi(BeansPackage) import BeansErrors
import CBeansRuntime
import Dispatch
import Synchronization

/// A signal that ends a process, for `Environment.run(until:)`.
public struct ProcessSignal: Hashable, Sendable, CustomStringConvertible {
  /// The number of the signal.
  public let number: Int32

  /// Creates a signal from its number.
  public init(_ number: Int32) { self.number = number }

  /// SIGTERM, which service managers and container runtimes send.
  public static let terminate = ProcessSignal(15)
  /// SIGINT, which Ctrl-C sends.
  public static let interrupt = ProcessSignal(2)
  /// SIGHUP, which a terminal sends when it closes.
  public static let hangUp = ProcessSignal(1)
  /// SIGQUIT, which Ctrl-\ sends.
  public static let quit = ProcessSignal(3)

  /// The name, such as `SIGTERM`.
  public var description: String {
    switch self {
    case .terminate: "SIGTERM"
    case .interrupt: "SIGINT"
    case .hangUp: "SIGHUP"
    case .quit: "SIGQUIT"
    default: "signal \(number)"
    }
  }
}

/// Watches for the first of several signals, which have no other effect meanwhile.
final class SignalWatch: Sendable {
  private let effects: SignalEffects
  private let sources = SignalSources()

  /// Starts to watch.
  ///
  /// - Parameter body: called once, on another thread. A further signal has its former effect by then.
  init(_ signals: Set<ProcessSignal>, _ body: @escaping @Sendable (ProcessSignal) -> Void) {
    effects = SignalEffects(signals)
    let queue = DispatchQueue(label: "Beans.SignalWatch")
    for (signal, event) in effects.events {
      sources.watch(event, on: queue) { [effects] in if effects.restore() { body(signal) } }
    }
  }

  /// Stops watching, and restores the effects of the signals.
  func end() {
    sources.cancel()
    effects.restore()
  }

  deinit { end() }
}

/// The sources of events, which live until the first one, or until they are cancelled.
private final class SignalSources: Sendable {
  private let all = Locked<[Source]>([])

  private final class Source: Sendable {
    private let source: Locked<any DispatchSourceRead>

    init(_ event: Int32, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
      let source = DispatchSource.makeReadSource(fileDescriptor: event, queue: queue)
      source.setEventHandler(handler: body)
      self.source = Locked(source)
    }

    func resume() { source.withLock { $0.resume() } }
    func cancel() { source.withLock { $0.cancel() } }
  }

  /// Calls `body` when the descriptor is readable. It stays so for other watches: no source is left then.
  func watch(_ event: Int32, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
    let source = Source(event, on: queue) { [self] in
      cancel()
      body()
    }
    // First, so that an event finds the source to cancel.
    all.withLock { $0.append(source) }
    source.resume()
  }

  func cancel() {
    let sources = all.withLock { all in
      defer { all = [] }
      return all
    }
    for source in sources { source.cancel() }
  }
}

/// The effects that signals had before the process began to note them.
private final class SignalEffects: Sendable {
  /// The signals, each with a descriptor that is readable once it has arrived.
  let events: [(signal: ProcessSignal, event: Int32)]
  private let areRestored = Atomic(false)

  init(_ signals: Set<ProcessSignal>) {
    events = signals.map { ($0, beans_signal_take($0.number)) }.filter { $0.1 >= 0 }
  }

  /// Restores the effects. Returns false where that has been done before.
  @discardableResult
  func restore() -> Bool {
    if areRestored.exchange(true, ordering: .acquiringAndReleasing) { return false }
    for (signal, _) in events { beans_signal_give_back(signal.number) }
    return true
  }
}
