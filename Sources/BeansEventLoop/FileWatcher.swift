import CLibuv

/// A change that a `FileWatcher` has observed.
package struct FileChange: Hashable, Sendable {
  /// The changed entry of a watched directory, without the directory; nil when the system does not report it.
  package let name: String?
  /// Whether the entry was created, removed or renamed, rather than written to.
  package let isRename: Bool
}

/// Delivers the changes of a file, or of a directory's entries, to a closure on the loop's thread.
///
/// When a program replaces a file (most editors do), a watcher of that file stays with the old one: watch the directory
/// instead. Subdirectories are not watched. Changes in quick succession may be delivered once. A change means only that
/// something may differ: read the file or the directory again. Each watcher takes one of the user's inotify watches.
package final class FileWatcher: LoopHandle, @unchecked Sendable {
  // Safe to send for the reason given in `LoopHandle`.

  /// The path of the watched file or directory.
  package let path: String
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
        // An error, too, is delivered as a change: it means only that something happened.
        let isRename = events & Int32(bitPattern: UV_RENAME.rawValue) != 0
        unsafe watcher.body?(FileChange(name: name.map { unsafe String(cString: $0) }, isRename: isRename))
      }, path, 0)
    guard status == 0 else {
      close()
      throw EventLoopError(status: status, "watch \(path)")
    }
  }

  /// Closes the watcher from any thread. No change is delivered once the loop has run the close.
  package func cancel() {
    if loop.isCurrent { close() } else { loop.execute { self.close() } }
  }

  override func didClose() { body = nil }
}

extension EventLoop {
  /// Calls `body` on the loop's thread whenever the file, the directory's list of entries or one of the entries
  /// changes.
  ///
  /// Call it on the loop's thread, or before `run()`. The watcher stays open when the result is dropped, and `close()`
  /// of the loop then reports it.
  ///
  /// - Parameters:
  ///   - path: a file or a directory.
  ///   - file: the source file of the call, for the report of open handles.
  ///   - line: the line of the call.
  ///   - body: called on the loop's thread with each change.
  /// - Throws: `.notFound` when `path` does not exist, `.invalidArgument` when it contains a NUL.
  @discardableResult
  package func onFileChange(
    _ path: String, file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (FileChange) -> Void
  ) throws(EventLoopError) -> FileWatcher {
    try FileWatcher(on: self, path: path, site: CreationSite(file: file, line: line), body)
  }
}
