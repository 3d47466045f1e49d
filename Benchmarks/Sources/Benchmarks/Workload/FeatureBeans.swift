import Beans

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
}

/// A bean of a tree in a request.
final class Branch: Sendable {
  let (left, right): (Branch?, Branch?)

  init(_ left: Branch?, _ right: Branch?) { (self.left, self.right) = (left, right) }
}

struct Placed: Sendable { let number: Int }

/// A listener that uses the event and itself.
final class Counter: EventListener, Sendable {
  func receive(_ event: Placed) { use(self) }
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
}
