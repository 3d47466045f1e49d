public import Beans
@_spi(BeansPackage) import BeansSupport
public import BeansEventLoop
import BeansLogging
import Synchronization

/// The configuration values of a file, which change when the file changes.
///
/// The loop watches the file's directory, so it notices a file that is replaced, or reached through a replaced link, as
/// well as one that is written to. A while after the last change the loop's thread reads the file again. New and
/// different values are passed to the configuration and its listeners, missing ones are removed. For a malformed or
/// missing file, an error is logged and the old values stay. Replace the file as a whole (write another, then rename
/// it), or a reader may see half of it.
///
/// Add the source to one environment. As a bean it is closed with that; otherwise close it before its loop.
public final class WatchedConfigurationSource: ConfigurationSource, DisposableBean {
  /// A function that returns the values in a file's bytes; `path` is for its errors. Called on the loop's thread, and
  /// on the thread that adds the source.
  public typealias Format = @Sendable (_ bytes: [UInt8], _ path: String) throws -> [ConfigurationItem]

  /// The path, which names the source in reports and errors.
  public let url: String
  /// Whether values of this source override those of sources added before it.
  public let canOverrule: Bool
  private let loop: EventLoop
  private let quietTime: Duration
  private let format: Format
  private let state = Locked(State())

  private struct State {
    weak var manager: ConfigurationManager?
    var watcher: FileWatcher?
    var timer: EventLoop.Scheduled?
    /// The time of the first change that the timer will handle.
    var firstChange: ContinuousClock.Instant?
    var isClosed = false
    /// The content of the file at the last reading, malformed or not; nil if the file could not be read.
    var content: [UInt8]?
    var items: [ItemAddress: ConfigurationItem] = [:]
  }

  /// Creates a source; nothing is read before it is added to an environment.
  ///
  /// - Parameters:
  ///   - path: the file. It has to exist when the source is added, and may come and go afterwards; its directory may
  ///     not.
  ///   - loop: the loop that reads the file and calls listeners. It need not run yet.
  ///   - canOverrule: true if the values override those of sources added before.
  ///   - quietTime: the time without changes in the directory after which the file is read; at most a second passes.
  ///   - format: the function that parses the file.
  public init(
    path: String, on loop: EventLoop, canOverrule: Bool = true, quietTime: Duration = .milliseconds(50),
    format: @escaping Format = PropertyText.items
  ) {
    self.url = path
    self.loop = loop
    self.canOverrule = canOverrule
    self.quietTime = quietTime
    self.format = format
  }

  deinit { close() }

  /// Reads the file, and makes the loop watch it.
  ///
  /// - Throws: `.missingConfiguration` for a file that cannot be read; the error that the format throws.
  public func load(_ manager: ConfigurationManager) throws {
    let content = try FileContent.read(url)
    let items = try format(content, url).map(\.asDynamic)
    for item in items { try manager.configurationAdded(item, source: self) }
    state.withLock { [weak manager] state in
      state.manager = manager
      state.content = content
      state.items = Self.index(items)
    }
    if loop.isCurrent { watch() } else { loop.execute { [weak self] in self?.watch() } }
  }

  /// Stops watching; the values stay unchanged. Idempotent, callable from any thread.
  public func close() {
    let (watcher, timer) = state.withLock { state in
      state.isClosed = true
      defer { (state.watcher, state.timer) = (nil, nil) }
      return (state.watcher, state.timer)
    }
    timer?.cancel()
    watcher?.cancel()
  }

  /// Closes the source with its environment.
  public func preDestroy() { close() }

  // MARK: on the loop's thread

  private func watch() {
    if state.withLock({ $0.isClosed || $0.watcher != nil }) { return }
    do throws(EventLoopError) {
      let watcher = try loop.onFileChange(Self.directory(of: url)) { [weak self] _ in self?.noteChange() }
      let isLate = state.withLock { state in
        if !state.isClosed { state.watcher = watcher }
        return state.isClosed
      }
      if isLate { return watcher.close() }
    } catch {
      return logger.error("\(url) is not watched: \(error)")
    }
    // The file may have changed before the watcher existed.
    reload()
  }

  private func noteChange() {
    let now = ContinuousClock.now
    let old = state.withLock { state -> EventLoop.Scheduled? in
      if state.isClosed { return nil }
      let first = state.firstChange ?? now
      // Frequent changes in the directory must not delay reading the file forever.
      if state.timer != nil, first.duration(to: now) > .seconds(1) { return nil }
      state.firstChange = first
      let old = state.timer
      state.timer = loop.schedule(after: quietTime) { [weak self] in self?.reload() }
      return old
    }
    old?.cancel()
  }

  private func reload() {
    let (manager, old) = state.withLock { state in
      (state.timer, state.firstChange) = (nil, nil)
      return (state.isClosed ? nil : state.manager, state.content)
    }
    guard let manager else { return }
    let content = try? FileContent.read(url)
    if content == old { return }
    // Stored first, so that a malformed file is reported once.
    state.withLock { $0.content = content }
    do {
      let items = try format(content ?? FileContent.read(url), url).map(\.asDynamic)
      apply(Self.index(items), to: manager)
    } catch {
      logger.error("\(url) has changed and cannot be used, the old values stay: \(error)")
    }
  }

  private func apply(_ items: [ItemAddress: ConfigurationItem], to manager: ConfigurationManager) {
    let old = state.withLock { state in
      defer { state.items = items }
      return state.items
    }
    for (address, item) in items where !Self.isSame(item.value, old[address]?.value) {
      do {
        try manager.configurationChanged(item, source: self)
      } catch {
        logger.error("a value of \(url) cannot be used: \(error)")
      }
    }
    for address in old.keys where items[address] == nil {
      manager.configurationRemoved(
        namespace: address.namespace, key: address.key, scope: address.scope, source: self)
    }
  }

  private var logger: Logger { LogManager.getLogger(forName: "Beans.Configuration") }

  /// Returns the directory that contains the file.
  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private struct ItemAddress: Hashable {
    let namespace: String
    let key: String
    let scope: String
  }

  private static func index(_ items: [ConfigurationItem]) -> [ItemAddress: ConfigurationItem] {
    Dictionary(items.map { (ItemAddress(namespace: $0.namespace, key: $0.key, scope: $0.scope), $0) }) { $1 }
  }

  /// Whether two values are equal. Values that cannot be compared are different.
  private static func isSame(_ left: any Sendable, _ right: (any Sendable)?) -> Bool {
    guard let left = left as? any Hashable, let right = right as? any Hashable else { return false }
    return AnyHashable(left) == AnyHashable(right)
  }
}
