#if canImport(Runtime)
  import Runtime
#endif

/// Where a thread stood and who had called it.
///
/// To take one costs about a third of a millisecond; names and lines are looked up only when `frames` is read.
public struct Stacktrace: Sendable, CustomStringConvertible {
  private enum Content: Sendable {
    case texts([String])
    #if canImport(Runtime)
      case captured(Backtrace)
    #endif
  }

  private let content: Content

  /// A stack trace that was taken elsewhere: one text a frame, innermost first.
  public init(frames: [String]) { content = .texts(frames) }

  #if canImport(Runtime)
    private init(_ backtrace: Backtrace) { content = .captured(backtrace) }
  #endif

  /// That of the calling thread, at most 64 frames; nil where the system gives none.
  @inline(never)
  public static func current() -> Stacktrace? {
    #if canImport(Runtime)
      // Without this function's own frame.
      return (try? Backtrace.capture(offset: 1)).map { Stacktrace($0) }
    #else
      return nil
    #endif
  }

  /// One text a frame, innermost first: `function (file:line)`, or the address where there is no symbol.
  public var frames: [String] {
    switch content {
    case .texts(let frames): return frames
    #if canImport(Runtime)
      case .captured(let backtrace):
        guard let symbolicated = backtrace.symbolicated() else { return backtrace.frames.map { "\($0)" } }
        var frames = symbolicated.frames.map { Self.text($0) }
        // The outermost one is where the system starts a thread, and has no name.
        while frames.count > 1, frames.last == nil { frames.removeLast() }
        return zip(frames, symbolicated.frames).map { text, frame in text ?? "\(frame.captured)" }
    #endif
    }
  }

  #if canImport(Runtime)
    private static func text(_ frame: SymbolicatedBacktrace.Frame) -> String? {
      guard let symbol = frame.symbol else { return nil }
      guard let place = symbol.sourceLocation else { return symbol.name }
      return "\(symbol.name) (\(place.path):\(place.line))"
    }
  #endif

  /// A line a frame.
  public var description: String { frames.joined(separator: "\n") }
}
