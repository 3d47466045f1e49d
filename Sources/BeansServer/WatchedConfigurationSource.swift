public import Beans
@_spi(BeansPackage) import BeansErrors
public import BeansEventLoop
import BeansLogging
import Synchronization

/// The configuration values of a file, which change when the file changes.
///
/// The loop watches the file and each name on the way to it, through all links. So it notices a file that is written to
/// or replaced, a link that is replaced anywhere on the way (`current -> releases/7`, the `..data` of Kubernetes), and a
/// directory that is renamed. A while after the last change the loop's thread reads the file again, and passes all values
/// to the configuration as one change: a reader gets either the old values or the new ones, and listeners of changed
/// values are called afterwards. Missing values are removed. For a malformed or missing file, an error is logged and the
/// old values stay, until the file can be read. Replace the file as a whole (write another, then rename it), or a reader
/// may see half of it.
///
/// The format is `PropertyText.items` by default; `JSONText.items` of the module `BeansJSON` and `YAMLText.items` of
/// `BeansYAML` are others. The file has at most 8 MiB. The source takes one of the user's inotify watches for each
/// directory on the way, and one for the file.
///
/// Add the source to one environment. As a bean it is closed with that; otherwise close it before its loop.
public final class WatchedConfigurationSource: ConfigurationSource, DisposableBean {
  /// The path, which names the source in reports and errors.
  public let url: String
  /// Whether values of this source override those of sources added before it.
  public let canOverrule: Bool
  private let loop: EventLoop
  private let quietTime: Duration
  private let format: @Sendable (_ bytes: [UInt8], _ path: String) throws -> [ConfigurationItem]
  private let state = Locked(State())

  private struct State {
    weak var manager: ConfigurationManager?
    var watcher: PathWatcher?
    var timer: EventLoop.Scheduled?
    /// The time of the first change that the timer will handle.
    var firstChange: ContinuousClock.Instant?
    var isClosed = false
    /// The content of the file at the last reading, malformed or not; nil if the file could not be read.
    var content: [UInt8]?
  }

  /// Creates a source; nothing is read before it is added to an environment.
  ///
  /// - Parameters:
  ///   - path: the file. It has to exist when the source is added; it and each part of the way to it may come and go
  ///     afterwards.
  ///   - loop: the loop that reads the file and calls listeners. It need not run yet.
  ///   - canOverrule: true if the values override those of sources added before.
  ///   - quietTime: the time without changes after which the file is read; at most a second passes.
  ///   - format: the function that returns the values in the file's bytes; `path` is for its errors. Called on the loop's
  ///     thread, and on the thread that adds the source.
  public init(
    path: String, on loop: EventLoop, canOverrule: Bool = true, quietTime: Duration = .milliseconds(50),
    format: @escaping @Sendable (_ bytes: [UInt8], _ path: String) throws -> [ConfigurationItem] = PropertyText.items
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
    watcher?.close()
  }

  /// Closes the source with its environment.
  public func preDestroy() { close() }

  // MARK: on the loop's thread

  private func watch() {
    let watcher = PathWatcher(path: url, on: loop) { [weak self] in self?.noteChange() }
    let isNew = state.withLock { state in
      if state.isClosed || state.watcher != nil { return false }
      state.watcher = watcher
      return true
    }
    guard isNew else { return }
    // The file may have changed before the watcher existed.
    reload()
  }

  private func noteChange() {
    let now = ContinuousClock.now
    let old = state.withLock { state -> EventLoop.Scheduled? in
      if state.isClosed { return nil }
      let first = state.firstChange ?? now
      // Frequent changes must not delay reading the file forever.
      if state.timer != nil, first.duration(to: now) > .seconds(1) { return nil }
      state.firstChange = first
      let old = state.timer
      state.timer = loop.schedule(after: quietTime) { [weak self] in self?.reload() }
      return old
    }
    old?.cancel()
  }

  private func reload() {
    let (manager, watcher, old) = state.withLock { state in
      (state.timer, state.firstChange) = (nil, nil)
      return (state.isClosed ? nil : state.manager, state.watcher, state.content)
    }
    guard let manager else { return }
    // Watched before it is read, so that a change after the reading causes an event.
    watcher?.renew()
    let content = try? FileContent.read(url)
    if content == old { return }
    // Stored first, so that a malformed file is reported once.
    state.withLock { $0.content = content }
    do {
      let items = try format(content ?? FileContent.read(url), url).map(\.asDynamic)
      try manager.configurationReplaced(with: items, source: self)
    } catch {
      logger.error("\(url) has changed and cannot be used, the old values stay: \(error)")
    }
  }

  private var logger: Logger { LogManager.getLogger(forName: "Beans.Configuration") }
}
