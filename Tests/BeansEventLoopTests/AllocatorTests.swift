import Foundation
import Testing

@testable import BeansEventLoop

@Suite struct AllocatorTests {
  @Test(.enabled(if: !isSanitized, "a sanitizer has an allocator of its own"))
  func blocksThatManyTimersReleaseAreJoinedWithinTheirTurns() async {
    // A process of its own: other tests release blocks too.
    await #expect(processExitsWith: .success) { @Sendable in
      final class Block: Sendable {}
      let report = try #require(HeapReport())
      let loop = try EventLoop()
      let many = 50_000
      for index in 0..<many {
        // Two blocks: the object, and the captured context of the closure.
        let block = Block()
        loop.schedule(after: .zero) {
          withExtendedLifetime(block) {}
          guard index == many - 1 else { return }
          // Blocks that one turn releases may be waiting.
          let waiting = report.blocksWaitingToBeJoined ?? .max
          if waiting > 4_096 {
            print("\(waiting) released blocks are waiting to be joined")
            exit(1)
          }
          loop.stop()
        }
      }
      try loop.run()
      try loop.close()
    }
  }
}

/// glibc's own report on its heaps.
private struct HeapReport: @unchecked Sendable {  // `stream` is used by one thread
  private typealias Print = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
  private let print: Print
  private let text: UnsafeMutableBufferPointer<CChar>
  private let stream: UnsafeMutablePointer<FILE>

  /// Takes all the memory it needs now: a report that allocates later would change its own figures.
  init?() {
    text = .allocate(capacity: 1 << 20)
    // Swift's module of the C library lacks `malloc.h`.
    guard let symbol = dlsym(nil, "malloc_info"), let stream = fmemopen(text.baseAddress, text.count, "w") else {
      return nil
    }
    print = unsafeBitCast(symbol, to: Print.self)
    setvbuf(stream, nil, _IONBF, 0)
    self.stream = stream
  }

  /// The number of small blocks that have been released and left as they are.
  var blocksWaitingToBeJoined: Int? {
    rewind(stream)
    guard print(0, stream) == 0, fflush(stream) == 0, let start = text.baseAddress else { return nil }
    // The last of them is the sum over all threads: `<total type="fast" count="12" size="384"/>`.
    let totals = String(cString: start).components(separatedBy: "<total type=\"fast\" count=\"")
    return totals.count > 1 ? totals.last.flatMap { Int($0.prefix { $0.isNumber }) } : nil
  }
}
