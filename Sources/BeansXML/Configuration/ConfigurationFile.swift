import Beans
import Foundation

/// A file that contains the values of a configuration source.
struct ConfigurationFile {
  /// The maximum size of a file, in bytes.
  static let limit = 8 * 1024 * 1024

  let path: String

  /// - Throws: `.missingConfiguration` where the file cannot be read.
  func read() throws -> Data {
    do {
      return try LocalFile.read(path, limit: Self.limit)
    } catch {
      throw EnvironmentError(cause: .unreadableFile, "configuration file \(error)", path: ["'\(path)'"])
    }
  }

  /// Adds the values of the file's outermost object to a manager.
  ///
  /// - Throws: `.conversionFailed`, one error for all values that cannot be configuration values.
  func add(_ content: Any, to manager: ConfigurationManager, from source: any ConfigurationSource) throws {
    guard let root = content as? [String: Any] else {
      throw malformed("the outermost value must be an object with keys")
    }
    let tree = ConfigurationTree(root)
    if !tree.faults.isEmpty { throw malformed(tree.faults.joined(separator: "; ")) }
    for item in tree.items { try manager.configurationAdded(item, source: source) }
  }

  func malformed(_ reason: String, line: Int = 1, column: Int? = nil, _ underlying: [any Error] = [])
    -> EnvironmentError
  {
    EnvironmentError(
      cause: .malformedFile, "configuration file '\(path)': \(reason)", steps: [EnvironmentError.Step("'\(path)'")],
      origin: .init(file: path, line: line, column: column), underlying: underlying)
  }
}
