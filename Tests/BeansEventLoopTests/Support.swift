import Dispatch
import Glibc
import Testing

@testable import BeansEventLoop

/// Collects the values that callbacks on a loop's thread report, for the thread of the test to read.
final class Box<Value: Sendable>: Sendable {
  private let content: Lock<Value>

  init(_ value: Value) { content = Lock(value) }

  var value: Value { content.withLock { $0 } }

  func update(_ body: @Sendable (inout Value) -> Void) {
    content.withLock(body)
  }
}

/// One event that a test waits for. Waiting blocks, so a suite that waits has a time limit and its own threads.
final class Event: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func signal() { semaphore.signal() }
  func wait() { semaphore.wait() }
}

/// Counts how many of its kind live.
final class Canary: Sendable {
  private let population: Box<Int>

  init(_ population: Box<Int>) {
    self.population = population
    population.update { $0 += 1 }
  }

  deinit { population.update { $0 -= 1 } }

  /// Something a closure can do with it, so that it captures it.
  func sing() {}
}

/// The code of the error that `body` throws, or nil.
func code(of body: () throws -> Void) -> EventLoopError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? EventLoopError)?.code
  }
}

/// A host that the system does not know, and asks no server for: a name has no spaces.
let unknownHost = "not an address"

/// Returns the resident memory of this process, from the second number (pages) of Linux's `statm`.
func residentBytes() throws -> Int {
  let file = open("/proc/self/statm", O_RDONLY)
  try #require(file >= 0)
  defer { close(file) }
  var text = [UInt8](repeating: 0, count: 128)
  let count = read(file, &text, text.count)
  let fields = text[..<max(0, count)].split(separator: UInt8(ascii: " "))
  return try #require(fields.count > 1 ? Int(String(decoding: fields[1], as: UTF8.self)) : nil) * Int(getpagesize())
}

/// True if the tests run under ThreadSanitizer or AddressSanitizer.
let isSanitized = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
