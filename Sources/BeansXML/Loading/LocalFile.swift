import Foundation

/// Reads files whole, and only what is safe to read so.
enum LocalFile {
  /// Why a file was not read, with its path.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Throws: `Failure` for what is not there, not readable, longer than `limit` bytes, or no regular file: a pipe or a
  ///   device might never end.
  static func read(_ path: String, limit: Int) throws(Failure) -> Data {
    // Foundation would cut it in some of these calls and escape it in others.
    guard !path.utf8.contains(0) else { throw Failure(description: "\(path.debugDescription) contains a NUL") }
    do {
      // The identity is that of what a link leads to.
      let attributes = try FileManager.default.attributesOfItem(atPath: identity(of: path))
      guard attributes[.type] as? FileAttributeType == .typeRegular else {
        throw Failure(description: "'\(path)' is not a file")
      }
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { try? file.close() }
      let data = try file.read(upToCount: limit + 1) ?? Data()
      guard data.count <= limit else {
        throw Failure(description: "'\(path)' has more than the \(limit) bytes that are read")
      }
      return data
    } catch let failure as Failure {
      throw failure
    } catch {
      let reason = FileManager.default.fileExists(atPath: path) ? "cannot be read" : "does not exist"
      throw Failure(description: "'\(path)' \(reason)")
    }
  }

  /// What two spellings of one file's path have in common.
  static func identity(of path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
  }
}
