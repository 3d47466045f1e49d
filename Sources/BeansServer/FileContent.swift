package import Beans
import Glibc

/// Reading a whole file.
package enum FileContent {
  /// Blocks. Throws `.missingConfiguration` with the reason.
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

  /// - Parameters:
  ///   - path: as the fault names the file.
  ///   - reason: the system's, if not given.
  private static func fault(_ path: String, _ reason: String? = nil) -> EnvironmentError {
    let reason = unsafe reason ?? String(cString: strerror(errno))
    return EnvironmentError(cause: .unreadableFile, "the configuration file \(path) cannot be read: \(reason)")
  }

  /// The directory that the file is an entry of.
  static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
