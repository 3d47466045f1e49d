#if canImport(Runtime)
  import Runtime
#endif

/// Where a thread stood and who had called it.
///
/// To take one costs less than 20 µs, but for the first; names and lines are looked up only when `frames` is read.
public struct Stacktrace: Sendable, CustomStringConvertible {
  /// An object, so that entries have a size that callers of a logger know: they need not ask for it at run time.
  private final class Content: Sendable {
    let frames: Frames
    init(_ frames: Frames) { self.frames = frames }
  }

  private enum Frames: Sendable {
    case texts([String])
    #if canImport(Runtime)
      case captured(Backtrace)
    #endif
  }

  private let content: Content

  /// A stack trace that was taken elsewhere: one text a frame, innermost first.
  public init(frames: [String]) { content = Content(.texts(frames)) }

  #if canImport(Runtime)
    /// Listed once: the runtime reads the beginning of every file that is mapped, and one that another thread unmaps meanwhile
    /// ends the process. Libraries that are loaded later have no names.
    private static let images = ImageMap.capture()

    private init(_ backtrace: Backtrace) { content = Content(.captured(backtrace)) }
  #endif

  /// That of the calling thread, at most 64 frames; nil where the system gives none.
  @inline(never)
  public static func current() -> Stacktrace? {
    #if canImport(Runtime)
      // Without this function's own frame.
      return (try? Backtrace.capture(offset: 1, images: images)).map { Stacktrace($0) }
    #else
      return nil
    #endif
  }

  /// One text a frame, innermost first: `function (file:line)`, or the address where there is no symbol.
  public var frames: [String] {
    switch content.frames {
    case .texts(let frames): return frames
    #if canImport(Runtime)
      case .captured(let backtrace):
        guard let symbolicated = backtrace.symbolicated(with: Self.images) else {
          return backtrace.frames.map { "\($0)" }
        }
        return symbolicated.frames.drop(while: { Self.isLogger($0) }).map { Self.text($0) }
    #endif
    }
  }

  #if canImport(Runtime)
    /// Whoever asked a logger does not want to read about it, nor about how its arguments came to be.
    private static func isLogger(_ frame: SymbolicatedBacktrace.Frame) -> Bool {
      guard let symbol = frame.symbol else { return false }
      return symbol.rawName.hasPrefix("$s12BeansLogging6LoggerC") || symbol.name.hasPrefix("implicit closure ")
        || symbol.name.hasPrefix("default argument ")
    }

    private static func text(_ frame: SymbolicatedBacktrace.Frame) -> String {
      guard let symbol = frame.symbol else { return "\(frame.captured)" }
      guard let place = symbol.sourceLocation, place.line > 0 else { return symbol.name }
      return "\(symbol.name) (\(place.path):\(place.line))"
    }
  #endif

  /// A line a frame.
  public var description: String { frames.joined(separator: "\n") }
}
