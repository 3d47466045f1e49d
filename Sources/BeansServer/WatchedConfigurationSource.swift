public import Beans
@_spi(BeansPackage) import BeansSupport
public import BeansEventLoop
import BeansLogging
import Synchronization

/// The configuration values of a file, which change when the file changes.
///
/// The file's directory is watched, so a file that is replaced, or reached through a link that is, is noticed as well as
/// one that is written to; a while after the last change it is read again, on the loop's thread. What is new or different
/// goes to the configuration and its listeners, what is gone is taken back. A file that is broken or missing is logged, and
/// the old values stay. Replace the file as a whole (write another, then rename it), or a reader may see half of it.
///
/// Add it to one environment. As a bean it is closed with that; otherwise close it before its loop.
public final class WatchedConfigurationSource: ConfigurationSource, DisposableBean {
  /// Gives the values in a file's bytes; `path` is for its errors. On the loop's thread, and on the one that adds the source.
  public typealias Format = @Sendable (_ bytes: [UInt8], _ path: String) throws -> [ConfigurationItem]

  /// The path, which names the source in reports and errors.
  public let url: String
  /// Whether values of this source replace those of sources added before it.
  public let canOverrule: Bool
  private let loop: EventLoop
  private let quietTime: Duration
  private let format: Format
  private let state = Locked(State())

  private struct State {
    weak var manager: ConfigurationManager?
    var watcher: FileWatcher?
    var timer: EventLoop.Scheduled?
    /// When the first of the changes came that the timer will look at.
    var firstChange: ContinuousClock.Instant?
    var isClosed = false
    /// What the file held when it was last read, broken or not; nil where it could not be read.
    var content: [UInt8]?
    var items: [ItemAddress: ConfigurationItem] = [:]
  }

  /// Creates a source; nothing is read before it is added to an environment.
  ///
  /// - Parameters:
  ///   - path: the file. It has to be there when the source is added, and may come and go afterwards; its directory may not.
  ///   - loop: reads and tells listeners. It need not run yet.
  ///   - canOverrule: whether the values replace those of sources added before.
  ///   - quietTime: how long nothing must happen in the directory before the file is read; at most a second passes.
  ///   - format: how to read the file.
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

  /// Reads the file, and has the loop watch it.
  ///
  /// - Throws: `.missingConfiguration` for a file that cannot be read; what the format throws.
  public func load(_ manager: ConfigurationManager) throws {
    let content = try FileContent.read(url)
    let items = try format(content, url)
    for item in items { try manager.configurationAdded(item, source: self) }
    state.withLock { [weak manager] state in
      state.manager = manager
      state.content = content
      state.items = Self.index(items)
    }
    if loop.isCurrent { watch() } else { loop.execute { [weak self] in self?.watch() } }
  }

  /// Stops watching; the values stay as they are. Idempotent, from any thread.
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
      let watcher = try loop.onFileChange(FileContent.directory(of: url)) { [weak self] _ in self?.noteChange() }
      let isLate = state.withLock { state in
        if !state.isClosed { state.watcher = watcher }
        return state.isClosed
      }
      if isLate { return watcher.close() }
    } catch {
      return logger.error("\(url) is not watched: \(error)")
    }
    // What changed before there was anybody to see it.
    reload()
  }

  private func noteChange() {
    let now = ContinuousClock.now
    let old = state.withLock { state -> EventLoop.Scheduled? in
      if state.isClosed { return nil }
      let first = state.firstChange ?? now
      // A directory that never rests must not keep the file from being read.
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
    // Noted first: what is broken is reported once.
    state.withLock { $0.content = content }
    do {
      let items = try format(content ?? FileContent.read(url), url)
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

  private struct ItemAddress: Hashable {
    let namespace: String
    let key: String
    let scope: String
  }

  private static func index(_ items: [ConfigurationItem]) -> [ItemAddress: ConfigurationItem] {
    Dictionary(items.map { (ItemAddress(namespace: $0.namespace, key: $0.key, scope: $0.scope), $0) }) { $1 }
  }

  /// Values that cannot be compared count as different.
  private static func isSame(_ left: any Sendable, _ right: (any Sendable)?) -> Bool {
    guard let left = left as? any Hashable, let right = right as? any Hashable else { return false }
    return AnyHashable(left) == AnyHashable(right)
  }
}
