import Glibc

/// This program once more, as a process that has done nothing yet.
struct OwnProcess {
  struct Failed: Error, CustomStringConvertible { let description: String }

  /// The output of the process.
  let output: String
  /// Processor time of all its threads, from its start to its end.
  let nanoseconds: Double

  /// Runs to the end.
  init(_ arguments: [String]) throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Failed(description: "no pipe: error \(errno)") }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    for end in ends { posix_spawn_file_actions_addclose(&actions, end) }
    var strings = (["Benchmarks"] + arguments).map { strdup($0) } + [nil]
    defer { for string in strings { free(string) } }
    var process: pid_t = 0
    let error = posix_spawn(&process, "/proc/self/exe", &actions, nil, &strings, environ)
    close(ends[1])
    guard error == 0 else { throw Failed(description: "no process: error \(error)") }
    output = Self.read(ends[0])
    var status: Int32 = 0
    var usage = rusage()
    while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
    guard status == 0 else { throw Failed(description: "\(arguments.joined(separator: " ")): status \(status)") }
    nanoseconds = Self.nanoseconds(usage.ru_utime) + Self.nanoseconds(usage.ru_stime)
  }

  private static func read(_ file: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Glibc.read(file, &buffer, buffer.count)
      if count > 0 {
        bytes += buffer[..<count]
      } else if count == 0 || errno != EINTR {
        return String(decoding: bytes, as: UTF8.self)
      }
    }
  }

  private static func nanoseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e9 + Double(time.tv_usec) * 1e3 }
}
