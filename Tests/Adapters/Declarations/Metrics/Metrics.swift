// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the article on metrics, with the signatures of swift-metrics. They record into
// `Recordings`.
import Synchronization

/// The values that metrics have recorded: one list for each label with its dimensions.
public enum Recordings {
  private static let values = Mutex<[String: [Double]]>([:])

  public static func of(_ label: String, _ dimensions: String...) -> [Double] {
    values.withLock { $0[([label] + dimensions).joined(separator: " ")] ?? [] }
  }

  static func record(_ label: String, _ dimensions: [(String, String)], _ value: (Double?) -> Double) {
    let key = ([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " ")
    values.withLock { values in values[key, default: []].append(value(values[key]?.last)) }
  }
}

public final class Counter: Sendable {
  public let label: String
  public let dimensions: [(String, String)]

  public init(label: String, dimensions: [(String, String)] = []) {
    (self.label, self.dimensions) = (label, dimensions)
  }

  public func increment() { Recordings.record(label, dimensions) { ($0 ?? 0) + 1 } }
}

public final class Meter: Sendable {
  public let label: String
  public let dimensions: [(String, String)]

  public init(label: String, dimensions: [(String, String)] = []) {
    (self.label, self.dimensions) = (label, dimensions)
  }

  public func increment() { Recordings.record(label, dimensions) { ($0 ?? 0) + 1 } }
  public func decrement() { Recordings.record(label, dimensions) { ($0 ?? 0) - 1 } }
}

public final class Timer: Sendable {
  public let label: String
  public let dimensions: [(String, String)]

  public init(label: String, dimensions: [(String, String)] = []) {
    (self.label, self.dimensions) = (label, dimensions)
  }

  public func record(duration: Duration) { Recordings.record(label, dimensions) { _ in duration / .seconds(1) } }
}
