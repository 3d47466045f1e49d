// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the article on tracing, with the signatures of swift-distributed-tracing. Spans
// that have ended are in `Spans`.
import Synchronization

public struct ServiceContext: Sendable {
  @TaskLocal public static var current: ServiceContext?

  public static var topLevel: ServiceContext { Self(spans: []) }

  /// The names of the spans around, the outermost one first.
  public let spans: [String]
}

public protocol SpanAttributeConvertible: Sendable {}

extension Int: SpanAttributeConvertible {}
extension String: SpanAttributeConvertible {}

public struct SpanAttributes: Sendable {
  private var values: [String: any SpanAttributeConvertible] = [:]

  public subscript<T: SpanAttributeConvertible>(name: String) -> T? {
    get { values[name] as? T }
    set { values[name] = newValue }
  }
}

public struct SpanStatus: Sendable, Equatable {
  public enum Code: Sendable { case ok, error }

  public let code: Code

  public init(code: Code, message: String? = nil) { self.code = code }
}

public protocol Span: Sendable {
  var context: ServiceContext { get }
  var attributes: SpanAttributes { get nonmutating set }
  func setStatus(_ status: SpanStatus)
  func recordError(_ error: any Error)
  func end()
}

/// The spans that have ended.
public enum Spans {
  public struct Ended: Sendable {
    public let path: String
    public var attributes = SpanAttributes()
    public var status: SpanStatus?
    public var errors: [any Error] = []
  }

  fileprivate static let all = Mutex<[Ended]>([])

  /// The spans whose outermost span has that name.
  public static func below(_ name: String) -> [Ended] {
    all.withLock { $0.filter { $0.path.hasPrefix(name + "/") } }
  }
}

private final class RecordedSpan: Span {
  let context: ServiceContext
  private let state: Mutex<Spans.Ended>

  init(_ context: ServiceContext) {
    self.context = context
    state = Mutex(Spans.Ended(path: context.spans.joined(separator: "/")))
  }

  var attributes: SpanAttributes {
    get { state.withLock { $0.attributes } }
    set { state.withLock { $0.attributes = newValue } }
  }

  func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }
  func recordError(_ error: any Error) { state.withLock { $0.errors.append(error) } }

  func end() {
    let ended = state.withLock { $0 }
    Spans.all.withLock { $0.append(ended) }
  }
}

public func startSpan(
  _ operationName: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
  function: String = #function, file fileID: String = #fileID, line: UInt = #line
) -> any Span { RecordedSpan(ServiceContext(spans: context().spans + [operationName])) }
