package import Beans
import Glibc

/// Reads whole files.
package enum FileContent {
  /// Returns the content of a file. Blocks. Throws `.missingConfiguration` with the reason.
  package static func read(_ path: String) throws(EnvironmentError) -> [UInt8] {
    guard !path.utf8.contains(0) else { throw fault(path.debugDescription, "its path contains a NUL") }
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw fault(path) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe Glibc.read(file, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw fault(path)
      }
      bytes += buffer[..<count]
    }
  }

  /// Creates the error for a file that cannot be read.
  ///
  /// - Parameters:
  ///   - path: the name of the file in the message.
  ///   - reason: the reason; by default that of the system.
  private static func fault(_ path: String, _ reason: String? = nil) -> EnvironmentError {
    let reason = unsafe reason ?? String(cString: strerror(errno))
    return EnvironmentError(cause: .unreadableFile, "the configuration file \(path) cannot be read: \(reason)")
  }

  /// Returns the directory that contains the file.
  static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
