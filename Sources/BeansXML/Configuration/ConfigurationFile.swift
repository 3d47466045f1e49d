import Beans
import Foundation

/// A file whose values a source brings.
struct ConfigurationFile {
  /// Bytes of one file that are read.
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

  /// Hands over what the file's outermost object says.
  ///
  /// - Throws: `.conversionFailed` for what cannot be a configuration value, and all of it at once.
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
