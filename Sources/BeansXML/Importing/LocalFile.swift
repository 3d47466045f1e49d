import Foundation

/// A reader of whole files, restricted to files that are safe to read as a whole.
enum LocalFile {
  /// The reason why a file was not read, with its path.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Throws: `Failure` for a file that does not exist, is not readable, is longer than `limit` bytes, or is not
  ///   regular: a pipe or a device might never end.
  static func read(_ path: String, limit: Int) throws(Failure) -> Data {
    // Foundation cuts a path at a NUL in some of these calls and escapes the NUL in others.
    guard !path.utf8.contains(0) else { throw Failure(description: "\(path.debugDescription) contains a NUL") }
    do {
      // The identity is that of the target of a link.
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

  /// Returns the canonical path of a file, which is the same for all spellings of its path.
  static func identity(of path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
  }
}
