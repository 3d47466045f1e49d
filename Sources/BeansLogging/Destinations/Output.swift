import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An open file or a standard stream that lines are written to.
///
/// A line that cannot be written is lost, and counted.
final class Output: Sendable {
  private let descriptor: Int32
  private let isOwned: Bool
  private let failures: LogFailures
  /// Whether the last line has been written in part.
  private let isTorn = Atomic(false)

  /// Wraps a standard stream.
  ///
  /// - Parameters:
  ///   - descriptor: the descriptor, which stays open.
  ///   - label: the name of the stream in reports of failures.
  convenience init(standard descriptor: Int32, label: String) {
    self.init(descriptor, isOwned: false, LogFailures(label: label))
  }

  /// Opens a file for appending, or creates it.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - mode: the permissions of a file that is created.
  ///   - failures: reports lines that cannot be written.
  convenience init(appendingTo path: String, mode: mode_t = 0o644, _ failures: LogFailures) throws(LogError) {
    guard !path.utf8.contains(0) else { throw LogError("'\(path)' cannot be the name of a log file") }
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw LogError("cannot open the log file '\(path)'", number: errno) }
    self.init(descriptor, isOwned: true, failures)
  }

  private init(_ descriptor: Int32, isOwned: Bool, _ failures: LogFailures) {
    (self.descriptor, self.isOwned, self.failures) = (descriptor, isOwned, failures)
  }

  deinit { if isOwned { close(descriptor) } }

  /// The number of lines lost so far, here and in the earlier files of the same log.
  var lostLines: Int { failures.lostEntries }

  /// Writes text and a line end together, so that lines of several processes do not mix. Returns the number of bytes
  /// written.
  ///
  /// - Parameters:
  ///   - text: the line.
  ///   - isAttached: whether the log works as intended if the line can be written.
  @discardableResult
  func write(line text: String, isAttached: Bool = true) -> Int {
    var line = text
    line.append("\n")
    // Part of an earlier line has been written: the disk was full.
    let wasTorn = isTorn.load(ordering: .relaxed) && isTorn.exchange(false, ordering: .relaxed)
    if wasTorn { line = "\n" + line }
    let result = line.withUTF8 { bytes -> (written: Int, failure: Int32) in
      var written = 0
      while written < bytes.count {
        let count = unsafe writeBytes(descriptor, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
        if count >= 0 {
          written += count
        } else if errno == EAGAIN {
          // A pipe that was made non-blocking: wait until its reader reads.
          var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          unsafe poll(&entry, 1, -1)
        } else if errno != EINTR {
          return (written, errno)
        }
      }
      return (written, 0)
    }
    if result.failure != 0 {
      if result.written > 0 || wasTorn { isTorn.store(true, ordering: .relaxed) }
      failures.note("cannot be written", number: result.failure, of: descriptor)
      failures.lose()
    } else if isAttached {
      failures.recover()
    }
    return result.written
  }

  /// The status of the file; nil when `fstat` fails.
  var status: stat? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
  }
}

/// The function `write` of the C library, which methods of the same name hide.
@unsafe func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}
