import CLibuv

/// What a `FileWatcher` has seen.
public struct FileChange: Hashable, Sendable {
  /// The entry of a watched directory that it is about, without the directory; nil where the system does not say.
  public let name: String?
  /// Whether the entry was created, removed or renamed, rather than written to.
  public let isRename: Bool
}

/// A file, or a directory's entries, whose changes are delivered to a closure on the loop's thread.
///
/// A program that replaces a file (most editors do) leaves a watcher of that file with the old one: watch the directory
/// then. Directories below are not watched. Changes in quick succession may be delivered once; a change tells that
/// something may be different, not what: look again. Costs one of the user's inotify watches.
public final class FileWatcher: LoopHandle, @unchecked Sendable {
  // Safe to send for the reason given in `LoopHandle`.

  /// What is watched.
  public let path: String
  private var body: (@Sendable (FileChange) -> Void)?

  fileprivate init(
    on loop: EventLoop, path: String, site: CreationSite, _ body: @escaping @Sendable (FileChange) -> Void
  ) throws(EventLoopError) {
    guard !path.utf8.contains(0) else {
      throw EventLoopError(.invalidArgument, "watch \(path.debugDescription)", detail: "the path contains a NUL")
    }
    self.path = path
    self.body = body
    unsafe try super.init(on: loop, .fileWatcher, size: MemoryLayout<uv_fs_event_t>.size, site: site) { loop, memory in
      unsafe uv_fs_event_init(loop, memory.assumingMemoryBound(to: uv_fs_event_t.self))
    }
    let status = unsafe uv_fs_event_start(
      memory.assumingMemoryBound(to: uv_fs_event_t.self),
      { handle, name, events, _ in
        guard let watcher = unsafe LoopHandle.from(handle) as? FileWatcher else { return }
        // An error says no more than that something happened.
        let isRename = events & Int32(bitPattern: UV_RENAME.rawValue) != 0
        unsafe watcher.body?(FileChange(name: name.map { unsafe String(cString: $0) }, isRename: isRename))
      }, path, 0)
    guard status == 0 else {
      close()
      throw EventLoopError(status: status, "watch \(path)")
    }
  }

  /// Closes the watcher from any thread: nothing is delivered once the loop has come round to it.
  public func cancel() {
    if loop.isCurrent { close() } else { loop.execute { self.close() } }
  }

  override func didClose() { body = nil }
}

extension EventLoop {
  /// Calls `body` on the loop's thread whenever the file, or the directory's list of entries or one of these, changes.
  ///
  /// On the loop's thread, or before `run()`. The watcher stays open when the result is dropped, and `close()` then
  /// reports it.
  ///
  /// - Parameters:
  ///   - path: a file or a directory.
  ///   - file: where it is made, for the report of unclosed handles.
  ///   - line: where in the file.
  ///   - body: called on the loop's thread with what has changed.
  /// - Throws: `.notFound` where there is nothing at `path`, `.invalidArgument` where it contains a NUL.
  @discardableResult
  public func onFileChange(
    _ path: String, file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (FileChange) -> Void
  ) throws(EventLoopError) -> FileWatcher {
    try FileWatcher(on: self, path: path, site: CreationSite(file: file, line: line), body)
  }
}
