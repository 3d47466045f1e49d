import Foundation

/// A folder of its own for one test, removed with its content.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("beans-xml-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Writes a file, creating its folders, and returns its path.
  @discardableResult
  func write(_ name: String, _ content: Data) throws -> String {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try content.write(to: file)
    return file.path
  }

  @discardableResult
  func write(_ name: String, _ content: String) throws -> String { try write(name, Data(content.utf8)) }
}
