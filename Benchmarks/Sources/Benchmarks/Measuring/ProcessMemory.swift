import Glibc

/// The memory of the process.
enum ProcessMemory {
  struct Unreadable: Error {}

  /// Bytes of this process in physical memory.
  static func resident() throws -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { throw Unreadable() }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, Int32(line.count), file) != nil else { throw Unreadable() }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { throw Unreadable() }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
