import Glibc

/// The Swift runtime of this process.
enum SwiftRuntime {
  enum Linking: String {
    case library = "a library, libswiftCore.so"
    case `static` = "linked statically"
  }

  struct Unreadable: Error {}

  /// As a library the end of an object costs more, on both sides: a ratio is worth nothing without it.
  static var linking: Linking {
    get throws {
      guard let file = fopen("/proc/self/maps", "r") else { throw Unreadable() }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 4096)
      while fgets(&line, Int32(line.count), file) != nil {
        if strstr(line, "/libswiftCore.so") != nil { return .library }
      }
      return .static
    }
  }
}
