package import BeansErrors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads whole files without Foundation.
package enum FileContent {
  /// Returns the content of a regular file. Blocks.
  ///
  /// - Parameters:
  ///   - path: an absolute path, or one relative to the current directory.
  ///   - limit: the maximum size in bytes.
  /// - Throws: `.missingConfiguration` with the reason, for a file that cannot be read, has more bytes than the limit,
  ///   or is not regular: a pipe or a device may never end.
  package static func read(_ path: String, limit: Int = ConfigurationFile.limit) throws(EnvironmentError) -> [UInt8] {
    guard !path.utf8.contains(0) else { throw fault(path.debugDescription, "cannot be read: its path contains a NUL") }
    // A pipe without a writer blocks `open` otherwise.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw fault("'\(path)'") }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw fault("'\(path)'") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw fault("'\(path)'", "is not a file") }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(max(Int(status.st_size), 0), limit))
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      // The buffer has the length that is passed with it.
      let count = unsafe readBytes(file, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw fault("'\(path)'")
      }
      bytes += buffer[..<count]
      if bytes.count > limit { throw fault("'\(path)'", "has more than the \(limit) bytes that are read") }
    }
  }

  /// Creates the error for a file that cannot be read.
  ///
  /// - Parameters:
  ///   - file: the name of the file in the message.
  ///   - reason: the reason; by default that of the system.
  private static func fault(_ file: String, _ reason: String? = nil) -> EnvironmentError {
    // The system's text is copied at once, before another call can overwrite it.
    let system = errno == ENOENT ? "does not exist" : unsafe "cannot be read: \(String(cString: strerror(errno)))"
    return EnvironmentError(
      cause: .unreadableFile, "configuration file \(file) \(reason ?? system)", path: [file])
  }
}

/// The function `read` of the C library, which the method of the same name hides.
@unsafe private func readBytes(_ file: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  unsafe read(file, buffer, count)
}
