#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The names of threads in log lines.
enum ThreadName {
  #if canImport(Darwin)
    /// The name of the calling thread: "main", the thread's own name, or its number in the system.
    static var current: String {
      if pthread_main_np() != 0 { return "main" }
      let name = nameOfThread
      if !name.isEmpty { return name }
      var number: UInt64 = 0
      unsafe pthread_threadid_np(nil, &number)
      return "\(number)"
    }

    /// Names the calling thread, as on Linux with at most 15 bytes.
    static func setCurrent(_ name: String) {
      unsafe pthread_setname_np(String(decoding: name.utf8.prefix(15), as: UTF8.self))
    }

    private static var nameOfThread: String {
      // The kernel keeps at most 63 bytes.
      unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
        guard let name = buffer.baseAddress, unsafe pthread_getname_np(pthread_self(), name, 64) == 0 else { return "" }
        return unsafe String(cString: name)
      }
    }
  #else
    /// The name of the calling thread: "main", the thread's own name, or its number in the system.
    static var current: String {
      guard let number = threadNumber?() else { return "\(UInt(pthread_self()))" }
      if number == getpid() { return "main" }
      let name = nameOfThread
      // A thread without a name of its own has the name of its creator, usually that of the program.
      return name.isEmpty || name == programName ? "\(number)" : name
    }

    /// Names the calling thread; the kernel keeps the first 15 bytes.
    static func setCurrent(_ name: String) {
      guard let writeName = unsafe writeName else { return }
      _ = unsafe String(decoding: name.utf8.prefix(15), as: UTF8.self).withCString {
        unsafe writeName(pthread_self(), $0)
      }
    }

    private static var nameOfThread: String {
      guard let readName = unsafe readName else { return "" }
      // The kernel keeps at most 15 bytes.
      return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { buffer in
        guard let name = buffer.baseAddress, unsafe readName(pthread_self(), name, 16) == 0 else { return "" }
        return unsafe String(cString: name)
      }
    }

    // GNU extensions, which Swift's `Glibc` does not declare. Looked up once; without them, a line contains the number of
    // the thread's handle.
    private typealias Number = @convention(c) () -> pid_t
    private typealias ReadName = @convention(c) (pthread_t, UnsafeMutablePointer<CChar>, Int) -> Int32
    private typealias WriteName = @convention(c) (pthread_t, UnsafePointer<CChar>) -> Int32
    private static let threadNumber = unsafe dlsym(nil, "gettid").map { unsafe unsafeBitCast($0, to: Number.self) }
    private static let readName = unsafe dlsym(nil, "pthread_getname_np").map {
      unsafe unsafeBitCast($0, to: ReadName.self)
    }
    private static let writeName = unsafe dlsym(nil, "pthread_setname_np").map {
      unsafe unsafeBitCast($0, to: WriteName.self)
    }

    private static let programName: String = {
      let program = CommandLine.arguments.first ?? ""
      let name = program.utf8.split(separator: UInt8(ascii: "/")).last.map { $0.prefix(15) }
      return name.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }()
  #endif
}
