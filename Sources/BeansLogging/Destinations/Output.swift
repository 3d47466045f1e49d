import Glibc
import Synchronization

/// An open file or a standard stream that lines are written to.
///
/// A line that cannot be written is lost. The first of several failures in a row is reported on standard error.
final class Output: Sendable {
  private let descriptor: Int32
  private let isOwned: Bool
  /// The name of the output in reports of failures.
  private let label: String
  private let isFailing = Atomic<Bool>(false)

  /// Wraps a standard stream.
  init(standard descriptor: Int32, label: String) {
    self.descriptor = descriptor
    self.label = label
    isOwned = false
  }

  /// Opens a file for appending, or creates it.
  init(appendingTo path: String) throws(LogError) {
    guard !path.utf8.contains(0) else { throw LogError("'\(path)' cannot be the name of a log file") }
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw LogError("cannot open the log file '\(path)'", number: errno) }
    label = path
    isOwned = true
  }

  deinit { if isOwned { close(descriptor) } }

  /// Writes text and a line end together, so that lines of several processes do not mix. Returns the number of bytes
  /// written.
  @discardableResult
  func write(line text: String) -> Int {
    var line = text
    line.append("\n")
    let result = line.withUTF8 { bytes -> (written: Int, failure: Int32) in
      var written = 0
      while written < bytes.count {
        let count = unsafe Glibc.write(descriptor, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
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
    if result.failure == 0 {
      if isFailing.load(ordering: .relaxed) { isFailing.store(false, ordering: .relaxed) }
    } else {
      report("cannot be written", number: result.failure)
    }
    return result.written
  }

  /// Reports a failure on standard error, once until a line has been written again.
  func report(_ problem: String, number: Int32) {
    guard !isFailing.exchange(true, ordering: .relaxed), descriptor != STDERR_FILENO else { return }
    var text = "log \(label) \(problem): \(LogError.text(of: number))\n"
    text.withUTF8 { _ = unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// The status of the file; nil when `fstat` fails.
  var status: stat? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
  }
}
