/// Writes the entries of one destination. Called from any thread, also concurrently.
protocol LogWriter: Sendable {
  /// Writes or forwards an entry.
  ///
  /// - Parameters:
  ///   - entry: the entry.
  ///   - line: its line, without a line end; formatted when it is read.
  func write(_ entry: LogEntry, as line: @autoclosure () -> String)

  /// Returns when every accepted entry has been written.
  func flush()

  /// Opens files again.
  ///
  /// - Throws: the reason why a file cannot be opened; the file that was open remains in use.
  func reopen() throws

  /// The number of entries dropped so far.
  var dropped: Int { get }
}

/// A writer that buffers nothing, has no file, or loses nothing that it knows of.
extension LogWriter {
  func flush() {}
  func reopen() throws {}
  var dropped: Int { 0 }
}
