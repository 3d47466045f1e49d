import TestSupport
import CBeansRuntime
import Testing

/// Which objects may be released without a locked instruction: those that nobody else has any way to.
@Suite struct SingleReferenceTests {
  private class Plain {}
  private final class Derived: Plain {}

  private func isSingle(_ object: Unmanaged<AnyObject>) -> Bool { beans_is_single_reference(object.toOpaque()) }

  private func made(_ object: AnyObject) -> Unmanaged<AnyObject> { Unmanaged.passRetained(object) }

  @Test func anObjectJustMade() {
    for object in [made(Plain()), made(Derived()), made([1, 2] as AnyObject)] {
      #expect(isSingle(object))
      object.release()
    }
  }

  @Test func anotherStrongReference() {
    let object = made(Plain())
    _ = object.retain()
    #expect(!isSingle(object))
    object.release()
    #expect(isSingle(object))
    object.release()
  }

  /// Weak and unowned references may become strong ones on any thread at any time.
  @Test func aWeakReference() {
    let object = made(Plain())
    weak let other = object._withUnsafeGuaranteedRef { $0 }
    #expect(!isSingle(object))
    #expect(other != nil)
    object.release()
    #expect(other == nil)
  }

  @Test func anUnownedReference() {
    let object = made(Plain())
    unowned let other = object._withUnsafeGuaranteedRef { $0 }
    #expect(!isSingle(object))
    withExtendedLifetime(other) {}
    object.release()
  }

  @Test(arguments: [true, false]) func releasing(isSingle: Bool) {
    let died = Counter()
    let object = made(Witness(died))
    if !isSingle { _ = object.retain() }
    beans_release(object.toOpaque())
    #expect(died.value == (isSingle ? 1 : 0))
    if !isSingle { object.release() }
    #expect(died.value == 1)
  }

  private func counts(_ times: Int) -> UInt64 {
    (0..<times).reduce(0) { counts, _ in beans_counts_with_one_more(counts) }
  }

  @Test(arguments: [1, 2, 40]) func retainingAhead(times: Int) {
    let died = Counter()
    let object = made(Witness(died))
    #expect(beans_retain_ahead(object.toOpaque(), counts(times)))
    for _ in 0..<times {
      object.release()
      #expect(died.value == 0)
    }
    #expect(isSingle(object))
    object.release()
    #expect(died.value == 1)
  }

  @Test func nothingIsRetainedAheadWhereOthersMayCount() {
    let died = Counter()
    let object = made(Witness(died))
    #expect(!beans_retain_ahead(object.toOpaque(), 0))
    _ = object.retain()
    #expect(!beans_retain_ahead(object.toOpaque(), counts(1)))
    object.release()
    object.release()
    #expect(died.value == 1)
  }

  /// What the runtime writes before it calls `deinit`, who releases: with it, references made there are counted for
  /// nobody, and ones that are kept are found out.
  @Test(arguments: [true, false]) func countsInDeinit(isOurs: Bool) {
    let seen = Seen()
    let object = made(Looking(seen))
    if isOurs { beans_release(object.toOpaque()) } else { object.release() }
    #expect(seen.counts == UInt(BEANS_LAST_RELEASED))
    #expect(seen.name == "Looking")
  }

  /// Neither the class nor what it inherits from is known where it is released.
  @Test func everyDeinitAndEveryFieldIsReached() {
    let died = Counter()
    beans_release(made(Holding(died)).toOpaque())
    #expect(died.value == 3)
    beans_release(made([Witness(died), Witness(died)] as AnyObject).toOpaque())
    #expect(died.value == 5)
  }

  private final class Seen {
    var counts: UInt = 0
    var name = ""
  }

  private final class Looking {
    private let seen: Seen
    init(_ seen: Seen) { self.seen = seen }
    deinit {
      let me = Unmanaged.passUnretained(self).toOpaque()
      seen.counts = me.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
      // Retains and releases in between.
      let kept: [AnyObject] = [self, self]
      seen.name = "\(type(of: kept[1]))"
    }
  }

  private class Witnessing {
    private let died: Counter
    init(_ died: Counter) { self.died = died }
    deinit { died.increment() }
  }

  private final class Holding: Witnessing {
    private let witness: Witness
    private let died: Counter
    override init(_ died: Counter) {
      witness = Witness(died)
      self.died = died
      super.init(died)
    }
    deinit { died.increment() }
  }

  private final class Witness {
    private let died: Counter
    init(_ died: Counter) { self.died = died }
    deinit { died.increment() }
  }
}
