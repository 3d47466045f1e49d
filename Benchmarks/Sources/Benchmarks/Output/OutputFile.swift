import Glibc

/// Writes the files of `--json`, `--markdown` and `--plots`.
enum OutputFile {
  struct Unwritable: Error, CustomStringConvertible { let description: String }

  static func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else {
      throw Unwritable(description: "\(path): \(String(cString: strerror(errno)))")
    }
    let bytes = Array(text.utf8)
    let written = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, written == bytes.count else {
      throw Unwritable(description: "\(path): \(String(cString: strerror(errno)))")
    }
  }
}
