import Beans
import Synchronization

/// The one bean of a request, or a bean of many.
final class Visit: Sendable {
  let seed: RequestSeed

  init(_ seed: RequestSeed) { self.seed = seed }
}

/// The context of a request by hand: the seed and the bean, built on demand, for a task and its child tasks.
final class VisitContext: @unchecked Sendable {  // one request uses it at a time
  @TaskLocal static var current: VisitContext?
  let seed: RequestSeed
  private(set) lazy var visit = Visit(seed)

  init(_ seed: RequestSeed) { self.seed = seed }

  /// Ends the request, as an asynchronous call that does not suspend.
  @inline(never)
  func close() async { use(self) }
}

/// A bean of a tree in a request.
final class Branch: Sendable {
  let (left, right): (Branch?, Branch?)

  init(_ left: Branch?, _ right: Branch?) { (self.left, self.right) = (left, right) }

  /// Returns object `number` of a tree of `size`, in which object n has the objects 2n + 1 and 2n + 2 below it.
  static func tree(_ size: Int, _ number: Int = 0) -> Branch {
    let (left, right) = (2 * number + 1, 2 * number + 2)
    return Branch(left < size ? tree(size, left) : nil, right < size ? tree(size, right) : nil)
  }

  /// The number of objects in the tree.
  var count: Int { 1 + (left?.count ?? 0) + (right?.count ?? 0) }
}

struct Placed: Sendable { let number: Int }

/// A listener that counts the events all listeners of its kind receive.
final class Counter: EventListener, Sendable {
  static let received = Atomic(0)

  func receive(_ event: Placed) { Self.received.store(Self.received.load(ordering: .relaxed) + 1, ordering: .relaxed) }
}

/// The listeners of an event by hand.
final class HandwrittenHub {
  private var listeners: [(Placed) -> Void]

  init(listeners: Int) {
    self.listeners = (0..<listeners).map { _ in
      let counter = Counter()
      return { counter.receive($0) }
    }
  }

  @inline(never)
  func publish(_ event: Placed) {
    for listener in listeners { listener(event) }
  }
}

protocol Ware: AnyObject, Sendable {}
final class Plain: Ware {}
final class Wrapped: Ware {
  let inner: any Ware
  init(_ inner: any Ware) { self.inner = inner }
}
enum Best {}

/// The second of two beans, which takes the first in one of several ways.
final class Taker: Sendable {
  let ware: any AnyObject & Sendable

  init(_ ware: any AnyObject & Sendable) { self.ware = ware }
}

/// A bean whose creation has to be awaited.
final class Awaited: Sendable {
  let parts: [Awaited]

  init(_ parts: [Awaited]) { self.parts = parts }

  /// Returns object `number` of a chain or a tree, after those it needs.
  @inline(never)
  static func make(_ shape: AsynchronousCreation.Shape, _ number: Int = 0) async -> Awaited {
    var parts: [Awaited] = []
    for part in shape.parts(of: number) { parts.append(await make(shape, part)) }
    return Awaited(parts)
  }

  /// The number of objects, each of which is part of one other.
  var count: Int { parts.reduce(1) { $0 + $1.count } }
}
