// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the articles on services: the signatures are those of UnixSignals.
import Synchronization

public struct UnixSignal: Hashable, Sendable {
  private let number: Int32

  public static let sigterm = Self(number: 15)
  public static let sigint = Self(number: 2)

  private static let listeners = Mutex<[(signals: [UnixSignal], body: @Sendable () -> Void)]>([])

  /// Calls `body` at each delivery of one of the signals.
  public static func listen(_ signals: [UnixSignal], _ body: @escaping @Sendable () -> Void) {
    listeners.withLock { $0.append((signals, body)) }
  }

  /// Delivers the signal to the listeners of this process.
  public func deliver() {
    for listener in Self.listeners.withLock({ $0 }) where listener.signals.contains(self) { listener.body() }
  }
}
