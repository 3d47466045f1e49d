import BeansLogging
import Testing

@Suite struct StacktraceTests {
  @inline(never)
  private func inner() -> Stacktrace? {
    let trace = Stacktrace.current()
    withExtendedLifetime(trace) {}
    return trace
  }

  @inline(never)
  private func outer<T>(_ value: T) -> Stacktrace? {
    let trace = inner()
    withExtendedLifetime(value) {}
    return trace
  }

  @Test func callersAreNamedInnermostFirst() throws {
    let trace = outer(1)
    let frames = try #require(trace).frames
    func index(_ name: String) -> Int? { frames.firstIndex { $0.contains(name) } }
    let inner = try #require(index("inner()"), "\(frames)")
    let outer = try #require(index("outer"), "\(frames)")
    let test = try #require(index("callersAreNamedInnermostFirst"), "\(frames)")
    #expect(inner < outer && outer < test)
    #expect(frames[0].contains("inner()"), "its own frame is not part of it: \(frames[0])")
  }

  @Test func aStackTakenElsewhereIsKeptAsItIs() {
    let trace = Stacktrace(frames: ["a", "", "c d"])
    #expect(trace.frames == ["a", "", "c d"])
    #expect(trace.description == "a\n\nc d")
    #expect(Stacktrace(frames: []).description == "")
  }
}
