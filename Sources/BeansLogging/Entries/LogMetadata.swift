import Synchronization

/// Names and values that belong to a log entry, such as the id of the request, in the order in which they were set.
///
///     LogMetadata.with(["request": id]) { … }
///
/// Every entry that is written inside, by any logger or tracer, has the metadata: in the task, in its child tasks, and in
/// synchronous calls. An environment of `Beans` may contribute metadata, too.
///
/// Metadata are equal if keys, values and their order are the same. `[:]` is empty and allocates nothing.
public struct LogMetadata: Sendable, Equatable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
  private struct Pair: Equatable {
    let key: String
    var value: String
  }

  private var values: [Pair]

  /// Creates empty metadata. Allocates nothing.
  package init() { values = [] }

  /// Creates metadata from a literal such as `["request": id]`. A key that occurs twice has the last value.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (key, value) in elements { self[key] = value }
  }

  /// The value of a key; nil where there is none. A new value keeps the place of the old one.
  public subscript(key: String) -> String? {
    get { values.first { $0.key == key }?.value }
    set {
      let index = values.firstIndex { $0.key == key }
      switch (index, newValue) {
      case (let index?, let value?): values[index].value = value
      case (let index?, nil): values.remove(at: index)
      case (nil, let value?): values.append(Pair(key: key, value: value))
      case (nil, nil): break
      }
    }
  }

  /// Adds other metadata, whose values replace those of the same keys here.
  package mutating func merge(_ other: LogMetadata) {
    if values.isEmpty { return values = other.values }
    for pair in other.values { self[pair.key] = pair.value }
  }

  /// Returns this metadata with other metadata added, whose values replace those of the same keys here.
  package func merging(_ other: LogMetadata) -> LogMetadata {
    var merged = self
    merged.merge(other)
    return merged
  }

  // MARK: the collection

  /// The position of the first pair.
  public var startIndex: Int { values.startIndex }

  /// The position behind the last pair.
  public var endIndex: Int { values.endIndex }

  /// The pair at a position.
  public subscript(position: Int) -> (key: String, value: String) { (values[position].key, values[position].value) }

  // MARK: the task and the environment

  /// The metadata that `with` has bound for the task or the synchronous call.
  @TaskLocal private static var ofTask = LogMetadata()

  /// The metadata of an entry that is written here and now: that of the environment, then that of the task, whose values
  /// replace those of the same keys.
  public static var current: LogMetadata { ofEnvironment.merging(ofTask) }

  /// Runs `body`, and adds metadata to every entry that is written inside. Allocates once; a value replaces that of the
  /// same key further out.
  ///
  /// - Parameters:
  ///   - metadata: the keys and values to add.
  ///   - body: runs with the metadata.
  /// - Throws: the error of `body`.
  public static func with<R>(_ metadata: LogMetadata, _ body: () throws -> R) rethrows -> R {
    try $ofTask.withValue(ofTask.merging(metadata)) { try body() }
  }

  /// Runs `body` on the caller's actor, and adds metadata to every entry that is written inside, also in child tasks. A
  /// value replaces that of the same key further out.
  ///
  /// - Parameters:
  ///   - metadata: the keys and values to add.
  ///   - body: runs with the metadata.
  /// - Throws: the error of `body`.
  public nonisolated(nonsending) static func with<R>(
    _ metadata: LogMetadata, _ body: nonisolated(nonsending) () async throws -> R
  ) async rethrows -> R {
    try await $ofTask.withValue(ofTask.merging(metadata)) { try await body() }
  }

  // MARK: the source of the environment's metadata

  /// The function that returns the metadata of the calling thread's environment. A struct, because a closure that is the
  /// value of a generic lock is wrapped anew with each access.
  private struct Source {
    let metadata: @Sendable () -> LogMetadata
  }

  private static let source = Monitor<Source?>(nil)
  /// Whether there is a source: entries of programs without one do not take its lock.
  private static let hasSource = Atomic(false)
  /// Whether the source is at work: an entry that the source itself writes has no metadata of the environment.
  @TaskLocal private static var isAsking = false

  /// Sets the function that returns the metadata of the calling thread's environment. Called for each entry that is
  /// written, on the thread that logs.
  package static func setSource(_ source: @escaping @Sendable () -> LogMetadata) {
    Self.source.withLock { $0 = Source(metadata: source) }
    hasSource.store(true, ordering: .releasing)
  }

  private static var ofEnvironment: LogMetadata {
    guard hasSource.load(ordering: .acquiring), !isAsking, let source = source.withLock({ $0 }) else {
      return LogMetadata()
    }
    return $isAsking.withValue(true) { source.metadata() }
  }
}
