import Foundation
import Glibc

@testable import Storefront

/// The example service as a process of its own, run by a test.
///
/// A test ends it by `end()`; one that is dropped while it runs is killed.
final class ServiceProcess {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The exit of the process, and its output.
  struct End {
    let status: Int32
    let isSignal: Bool
    let output: String

    /// True if the closing report is balanced and has no open handle.
    var isClean: Bool {
      status == 0 && !isSignal && output.contains("open handles: none") && !output.contains("≠")
    }

    /// The number before a word of the closing report, such as 1 of `"1 aborted"`.
    func count(_ word: Substring) -> Int? {
      let words = output.split { $0.isWhitespace || $0 == "," || $0 == ";" }
      return words.firstIndex(of: word).flatMap { $0 > 0 ? Int(words[$0 - 1]) : nil }
    }
  }

  let id: pid_t
  private let collected = Collected()
  private let ending = Ending()

  /// Starts the service on a port of the system's choice.
  ///
  /// - Parameters:
  ///   - database: the path of its file.
  /// - descriptors: the number that it may have open, at most; nil for as many as this process.
  /// - kibibytes: the size limit of its files; nil for that of this process.
  /// - streams: descriptors that take the place of its standard streams, by the stream's number; output to them is not
  ///   collected.
  ///   - command: stands in front of the program.
  ///   - copy: a path where the program is copied to and run, for the time of its life.
  ///   - environment: further variables.
  init(
    database: String, descriptors: Int? = nil, kibibytes: Int? = nil, streams: [Int32: Int32] = [:],
    command: String = "", copy: String? = nil, environment: [String: String] = [:]
  ) throws {
    var executable = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .deletingLastPathComponent().appendingPathComponent("StorefrontServer").path
    var limit = descriptors.map { "ulimit -n \($0); " } ?? ""
    if let copy {
      // Not by this process: a child of another test would have the copy open for writing, and it could not be run.
      limit += "cp '\(executable)' '\(copy)'; "
      executable = copy
    }
    // In blocks of 512 bytes. The signal would end the process, where a full disk is an error.
    if let kibibytes { limit += "ulimit -f \(2 * kibibytes); trap '' XFSZ; " }
    let variables = ProcessInfo.processInfo.environment
      .merging(["HOST": "127.0.0.1", "PORT": "0", "DATABASE": database]) { $1 }
      .merging(environment) { $1 }

    var pipe: [Int32] = [0, 0]
    guard Glibc.pipe(&pipe) == 0 else { throw Failure(description: "no pipe") }
    // A service that is started at the same moment must not keep the other end open.
    for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for target in [STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_adddup2(&actions, streams[target] ?? pipe[1], target)
    }
    // Other tests open descriptors that children of this process inherit; limits of descriptors count those.
    for inherited in Int32(3)..<256 { posix_spawn_file_actions_addclose(&actions, inherited) }
    // Threads of Dispatch block all signals, and a child inherits that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    if kibibytes != nil { sigdelset(&all, SIGXFSZ) }
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let texts = ["/bin/sh", "-c", "\(limit)exec \(command) \"$0\"", executable]
    let arguments: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
    let values: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in arguments + values { free(text) } }
    var id = pid_t()
    let status = posix_spawn(&id, "/bin/sh", &actions, &attributes, arguments, values)
    close(pipe[1])
    guard status == 0 else { throw Failure(description: "not started: \(String(cString: strerror(status)))") }
    self.id = id
    let input = pipe[0]
    Thread.detachNewThread { [collected, ending, id, copy] in
      collected.read(input)
      close(input)
      var status: Int32 = 0
      waitpid(id, &status, 0)
      if let copy { unlink(copy) }
      ending.end(status)
    }
  }

  deinit {
    if ending.status == nil { kill(id, SIGKILL) }
  }

  /// Returns the resident memory of the process in bytes.
  func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/\(id)/statm", encoding: .utf8).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(getpagesize())
  }

  /// True while the process has not ended.
  var isRunning: Bool { ending.status == nil }

  /// Returns the number of open descriptors of the process.
  func openDescriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd").count }

  func signal(_ number: Int32) { kill(id, number) }

  /// Waits until the service has printed its address; returns the port.
  func port() throws -> Int {
    let address = /http:\/\/[^ ]*:(\d+)/
    try collected.wait { $0.firstMatch(of: address) != nil }
    guard let match = collected.text.firstMatch(of: address), let port = Int(match.1) else {
      throw Failure(description: "no address: \(collected.text)")
    }
    return port
  }

  /// Waits until the service has said `text`.
  func wait(for text: String) throws { try collected.wait { $0.contains(text) } }

  /// Waits until SIGTERM no longer has its default effect on the process.
  func waitUntilSignalsAreHeld() throws {
    let bit: UInt64 = 1 << UInt64(SIGTERM - 1)
    while true {
      let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
      for line in status.split(separator: "\n") where line.hasPrefix("SigBlk") || line.hasPrefix("SigCgt") {
        if let mask = UInt64(line.split(separator: "\t").last ?? "", radix: 16), mask & bit != 0 { return }
      }
      guard ending.status == nil else { throw Failure(description: "the service has ended: \(collected.text)") }
    }
  }

  /// Sends SIGTERM, unless that has been done, and waits for the end.
  func end(signal: Bool = true) throws -> End {
    if signal { self.signal(SIGTERM) }
    guard let status = ending.wait() else {
      kill(id, SIGKILL)
      throw Failure(description: "the service did not end: \(collected.text)")
    }
    return End(
      status: status & 0x7F == 0 ? status >> 8 : status & 0x7F, isSignal: status & 0x7F != 0, output: collected.text)
  }
}

/// The output of a process so far. Safe from any thread.
private final class Collected: @unchecked Sendable {
  // `condition` guards both.
  private var bytes: [UInt8] = []
  private var isAtEnd = false
  private let condition = NSCondition()

  var text: String { condition.withLock { String(decoding: bytes, as: UTF8.self) } }

  /// Reads until the other end is closed by all processes.
  func read(_ input: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Glibc.read(input, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      condition.withLock {
        bytes += buffer[..<max(0, count)]
        isAtEnd = count <= 0
        condition.broadcast()
      }
      if count <= 0 { return }
    }
  }

  func wait(until isEnough: (String) -> Bool) throws {
    try condition.withLock {
      let limit = Date() + 60
      while !isEnough(String(decoding: bytes, as: UTF8.self)) {
        guard !isAtEnd, condition.wait(until: limit) else {
          throw ServiceProcess.Failure(description: "not said: \(String(decoding: bytes, as: UTF8.self))")
        }
      }
    }
  }
}

/// The exit status of a process, once it has ended. Safe from any thread.
private final class Ending: @unchecked Sendable {
  // `condition` guards it.
  private var value: Int32?
  private let condition = NSCondition()

  var status: Int32? { condition.withLock { value } }

  func end(_ status: Int32) {
    condition.withLock {
      value = status
      condition.broadcast()
    }
  }

  /// Nil where the process goes on for a minute.
  func wait() -> Int32? {
    condition.withLock {
      let limit = Date() + 60
      while value == nil, condition.wait(until: limit) {}
      return value
    }
  }
}
