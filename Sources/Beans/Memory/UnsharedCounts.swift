import CBeansRuntime

/// Finds out, once in a process, whether the counts of an object tell that nobody but its holder knows it.
///
/// The layout of counts is not assumed: those of a fresh object are learned, and compared for equality only. Where the
/// trial fails, `ObjectReference.releaseLast` releases like everybody else.
enum UnsharedCounts {
  private final class Probe {
    let ended: UnsafeMutablePointer<Int>

    init(_ ended: UnsafeMutablePointer<Int>) { self.ended = ended }

    deinit { ended.pointee += 1 }
  }

  static let areKnown: Bool = {
    #if BEANS_ORDINARY_REFERENCES
      return false
    #else
      let isRight = withUnsafeTemporaryAllocation(of: Int.self, capacity: 1) { buffer in
        // One element was asked for.
        let ended = buffer.baseAddress.unsafelyUnwrapped
        ended.initialize(to: 0)
        return learn(ended)
      }
      return isRight
    #endif
  }()

  private static func learn(_ ended: UnsafeMutablePointer<Int>) -> Bool {
    // Kept by address: unoptimized code would count a variable, and what a closure captures, once more.
    func make() -> UnsafeMutableRawPointer { Unmanaged.passRetained(Probe(ended)).toOpaque() }
    func object(_ address: UnsafeMutableRawPointer) -> Probe { Unmanaged.fromOpaque(address).takeUnretainedValue() }
    let (one, other) = (make(), make())
    let fresh = beans_counts(one)
    var isRight = fresh != 0 && beans_counts(other) == fresh
    // Every kind of reference shows.
    beans_retain_n(other, 3)
    isRight = isRight && beans_counts(other) != fresh
    for _ in 0..<3 { swift_release(other) }
    isRight = isRight && beans_counts(other) == fresh
    do {
      unowned let reference = object(other)
      let counts = beans_counts(other)
      isRight = isRight && counts != fresh
      withExtendedLifetime(reference) {}
    }
    isRight = isRight && beans_counts(other) == fresh
    weak let reference = object(other)
    let counts = beans_counts(other)
    isRight = isRight && counts != fresh && reference != nil
    // The last reference ends the object, once.
    swift_nonatomic_release(one)
    isRight = isRight && ended.pointee == 1
    swift_release(other)
    isRight = isRight && ended.pointee == 2 && reference == nil
    if isRight { beans_rely_on_counts(fresh) }
    return isRight
  }
}
