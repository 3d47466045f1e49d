import BeansLogging
import Dispatch
import Glibc
import Testing

@Suite struct StacktraceWhileUnmappingTests {
  /// As databases do with their files.
  @Test func filesMayBeUnmappedWhileAStackIsTaken() async {
    await #expect(processExitsWith: .success) {
      // Images are looked at the first time.
      _ = Stacktrace.current()
      let begun = DispatchSemaphore(value: 0)
      DispatchQueue(label: "maps and unmaps").async {
        let file = open("/bin/sh", O_RDONLY)
        for round in 0... {
          let mapped = mmap(nil, 4_096 * 16, PROT_READ, MAP_PRIVATE, file, 0)
          munmap(mapped, 4_096 * 16)
          if round == 0 { begun.signal() }
        }
      }
      begun.wait()
      for _ in 0..<1_000 { #expect(Stacktrace.current() != nil) }
    }
  }
}
