@testable import BeansLogging
@_spi(BeansPackage) import BeansErrors
import Dispatch
import Glibc
import Testing

@Suite struct ThreadNameTests {
  private final class Names: Sendable {
    let names = Locked<[String]>([])
  }

  /// On a thread without a name of its own, a number; two threads have two.
  @Test func threadsWithoutANameHaveNumbers() {
    let names = Names()
    for _ in 0..<2 {
      var thread = pthread_t()
      let argument = Unmanaged.passRetained(names)
      pthread_create(
        &thread, nil,
        { argument in
          guard let argument else { return nil }
          let names = Unmanaged<Names>.fromOpaque(argument).takeRetainedValue()
          let name = ThreadName.current
          names.names.withLock { $0.append(name) }
          return nil
        }, argument.toOpaque())
      pthread_join(thread, nil)
    }
    let found = names.names.withLock { $0 }
    #expect(found.count == 2)
    #expect(found.allSatisfy { !$0.isEmpty && $0 != "main" }, "\(found)")
  }

  @Test func theMainThreadIsNamedMain() async {
    let name = await MainActor.run { getpid() == Self.number ? ThreadName.current : "main" }
    #expect(name == "main")
  }

  /// The id of the calling thread. The parent of the process decides if the main actor runs on the main thread.
  private static var number: pid_t {
    dlsym(nil, "gettid").map { unsafeBitCast($0, to: (@convention(c) () -> pid_t).self)() } ?? 0
  }
}
