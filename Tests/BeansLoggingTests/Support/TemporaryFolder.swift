import Glibc
import Testing

/// A folder of its own for each test, gone with it.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/beans-logging-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? ""
  }

  deinit {
    for name in names { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  var names: [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  func write(_ text: String, to name: String) throws {
    let file = try #require(fopen("\(path)/\(name)", "w"))
    defer { fclose(file) }
    #expect(fputs(text, file) >= 0)
  }

  func read(_ name: String) throws -> String {
    let file = try #require(fopen("\(path)/\(name)", "r"))
    defer { fclose(file) }
    var text: [UInt8] = []
    var byte = fgetc(file)
    while byte != EOF {
      text.append(UInt8(truncatingIfNeeded: byte))
      byte = fgetc(file)
    }
    return String(decoding: text, as: UTF8.self)
  }

  func lines(_ name: String) throws -> [String] { try read(name).split(separator: "\n").map(String.init) }

  /// Makes a file look as if it had been written to last at that moment.
  func touch(_ name: String, seconds: Int64) {
    let time = timespec(tv_sec: Int(seconds), tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, "\(path)/\(name)", [time, time], 0) == 0)
  }
}
