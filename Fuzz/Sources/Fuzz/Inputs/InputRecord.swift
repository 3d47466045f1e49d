import Glibc

/// The file with the current input: after a crash it holds the input that crashed.
struct InputRecord {
  private let file: Int32

  init(_ path: String) throws {
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    if file < 0 { throw Broken(description: "cannot write '\(path)'") }
  }

  func write(_ input: [UInt8]) {
    _ = pwrite(file, input, input.count, 0)
    _ = ftruncate(file, input.count)
  }

  static func read(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { throw Broken(description: "cannot read '\(path)'") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
    return bytes
  }
}
