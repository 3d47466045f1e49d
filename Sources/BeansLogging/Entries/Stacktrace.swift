#if canImport(Runtime) && !canImport(Darwin)
  import Runtime
#endif

/// The call stack of a thread at one moment.
///
/// The capture costs less than 20 µs, except for the first one. Names and lines are looked up only when `frames` is
/// read.
public struct Stacktrace: Sendable, CustomStringConvertible {
  /// An object, so that the size of an entry is fixed at compile time: a call of a logger does not look it up at run
  /// time.
  private final class Content: Sendable {
    let frames: Frames
    init(_ frames: Frames) { self.frames = frames }
  }

  private enum Frames: Sendable {
    case texts([String])
    #if canImport(Runtime) && !canImport(Darwin)
      case captured(Backtrace)
    #endif
  }

  private let content: Content

  /// Creates a stack trace that was captured elsewhere: one text for each frame, innermost first.
  package init(frames: [String]) { content = Content(.texts(frames)) }

  #if canImport(Runtime) && !canImport(Darwin)
    /// The images of the process, listed once: the runtime reads the beginning of every mapped file, and the process
    /// ends if another thread unmaps one meanwhile. Libraries that are loaded later have no names.
    private static let images = ImageMap.capture()

    private init(_ backtrace: Backtrace) { content = Content(.captured(backtrace)) }
  #endif

  /// Captures the stack trace of the calling thread, at most 64 frames; nil when the system provides none.
  @inline(never)
  public static func current() -> Stacktrace? {
    #if canImport(Runtime) && !canImport(Darwin)
      // The offset leaves out this function's own frame.
      return (try? Backtrace.capture(offset: 1, images: images)).map { Stacktrace($0) }
    #else
      return nil
    #endif
  }

  /// The frames as texts, innermost first: `function (file:line)`, or the address of a frame without a symbol.
  public var frames: [String] {
    switch content.frames {
    case .texts(let frames): return frames
    #if canImport(Runtime) && !canImport(Darwin)
      case .captured(let backtrace):
        guard let symbolicated = backtrace.symbolicated(with: Self.images) else {
          return backtrace.frames.map { "\($0)" }
        }
        return symbolicated.frames.drop(while: { Self.isLogger($0) }).map { Self.text($0) }
    #endif
    }
  }

  #if canImport(Runtime) && !canImport(Darwin)
    /// Whether the frame belongs to the logger or to the evaluation of its arguments, which are of no use to the
    /// reader.
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

  /// The frames, one on each line.
  public var description: String { frames.joined(separator: "\n") }
}
