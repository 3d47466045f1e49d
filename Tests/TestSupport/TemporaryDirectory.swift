import Foundation
import Glibc

/// A directory for one test, removed with its content. Files change by system calls: a test of watched files selects
/// the call.
package final class TemporaryDirectory: Sendable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  package let path: String

  package init() throws {
    var template = Array("/tmp/beans-test-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template).map({ String(cString: $0) }) else { throw Failure(description: "mkdtemp") }
    self.path = path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Returns the path of an entry.
  package func path(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file in place, and returns its path.
  @discardableResult
  package func write(_ name: String, _ content: [UInt8]) throws -> String {
    let file = open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(file) }
    try check(Glibc.write(file, content, content.count) == content.count, "write \(name)")
    return path(name)
  }

  @discardableResult
  package func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

  /// Writes a file under another name and renames it, as editors do.
  package func replace(_ name: String, _ text: String) throws {
    try write("\(name).new", text)
    try rename("\(name).new", to: name)
  }

  package func makeDirectory(_ name: String) throws { try check(mkdir(path(name), 0o700) == 0, "mkdir \(name)") }

  package func rename(_ old: String, to new: String) throws {
    try check(Glibc.rename(path(old), path(new)) == 0, "rename \(old) \(new)")
  }

  package func link(_ name: String, to target: String) throws {
    try check(symlink(target, path(name)) == 0, "symlink \(target) \(name)")
  }

  package func remove(_ name: String) throws { try check(unlink(path(name)) == 0, "unlink \(name)") }

  private func check(_ isDone: Bool, _ call: String) throws {
    if !isDone { throw Failure(description: "\(call): \(String(cString: strerror(errno)))") }
  }
}
