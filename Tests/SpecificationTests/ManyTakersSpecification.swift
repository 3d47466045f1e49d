import Beans
import Testing

/// References that are retained ahead: each is released once, even if the steps that were to take them fail.
@Suite("Beans with several takers") struct ManyTakersSpecification {
  private let alive = Population()

  /// Opens a child with the declarations of `declare`, runs `body` in it, ends it; returns the number of beans left.
  private func left(
    declaring declare: (Environment) throws -> Void, _ body: (Environment) throws -> Void
  ) throws -> Int {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    let requests = try environment.childFactory("request", seed: Void.self, configure: declare)
    let request = try requests.build(())
    try body(request)
    request.finish()
    return alive.value
  }

  /// Declares a leaf that two beans need, and a root that needs all of them.
  private func diamond(_ child: Environment, rootFails: Bool = false, rightFails: Bool = false) throws {
    let alive = alive
    try child.define(child.bean(Leaf.self, factory: { Leaf(alive) }))
    try child.define(child.bean(Left.self, factory: { (leaf: Leaf) in Left(alive, leaf) }))
    try child.define(
      child.bean(Right.self) { (leaf: Leaf) in
        if rightFails { throw Failed() }
        return Right(alive, leaf)
      })
    try child.define(
      child.bean(Root.self) { (left: Left, right: Right, leaf: Leaf) in
        if rootFails { throw Failed() }
        return Root(alive, left, right, leaf)
      })
  }

  @Test("A bean that several beans take lives as long as the last holder")
  func allAreTaken() throws {
    var kept: [Root] = []
    let left = try left(declaring: { try diamond($0) }) { request in
      kept.append(try request.getBean(Root.self))
      #expect(alive.value == 4)
    }
    #expect(left == 4)
    kept.removeAll()
    #expect(alive.value == 0)
  }

  @Test("The failure of the last bean releases the earlier ones with the child")
  func theRootFails() throws {
    let left = try left(declaring: { try diamond($0, rootFails: true) }) { request in
      for _ in 0..<3 { #expect(throws: EnvironmentError.self) { try request.getBean(Root.self) } }
      #expect(alive.value == 3)
    }
    #expect(left == 0)
  }

  @Test("The failure of a bean on the way prevents the build of its takers, and nothing is lost")
  func oneOnTheWayFails() throws {
    let left = try left(declaring: { try diamond($0, rightFails: true) }) { request in
      for _ in 0..<3 { #expect(throws: EnvironmentError.self) { try request.getBean(Root.self) } }
      #expect(alive.value == 2)
      _ = try request.getBean(Leaf.self)
    }
    #expect(left == 0)
  }

  @Test("An existing bean is used, and dropped once")
  func existingBeansAreUsed() throws {
    for first in [Leaf.self, Left.self, Right.self] as [Counted.Type] {
      let left = try left(declaring: { try diamond($0) }) { request in
        switch first {
        case is Leaf.Type: _ = try request.getBean(Leaf.self)
        case is Left.Type: _ = try request.getBean(Left.self)
        default: _ = try request.getBean(Right.self)
        }
        _ = try request.getBean(Root.self)
        #expect(alive.value == 4)
      }
      #expect(left == 0)
    }
  }

  /// The factory of an earlier step looks up a later step's bean: the references retained for that step are released.
  @Test("A factory may look up a later bean, and each bean is built and dropped once")
  func aFactoryLooksUpALaterBean() throws {
    let alive = alive
    let left = try left(declaring: { child in
      try child.define(child.bean(Leaf.self, factory: { Leaf(alive) }))
      try child.define(
        child.bean(Left.self) { (leaf: Leaf, environment: Environment) in
          _ = try environment.getBean(Right.self)
          return Left(alive, leaf)
        })
      try child.define(child.bean(Middle.self, factory: { (leaf: Leaf) in Middle(alive, leaf) }))
      try child.define(child.bean(Right.self, factory: { (leaf: Leaf, middle: Middle) in Right(alive, leaf, middle) }))
      try child.define(
        child.bean(
          Root.self,
          factory: { (leaf: Leaf, middle: Middle, left: Left, right: Right) in Root(alive, left, right, leaf) }))
    }) { request in
      _ = try request.getBean(Root.self)
      #expect(alive.value == 5)
    }
    #expect(left == 0)
  }

  @Test("Arguments that no bean keeps stay alive as long as the child")
  func unkeptArgumentsStayAlive() throws {
    let alive = alive
    let left = try left(declaring: { child in
      try child.define(child.bean(Leaf.self, factory: { Leaf(alive) }))
      try child.define(child.bean(Left.self, factory: { (_: Leaf, _: Leaf) in Left(alive, nil) }))
    }) { request in
      _ = try request.getBean(Left.self)
      _ = try request.getBean(Leaf.self)
      #expect(alive.value == 2)
    }
    #expect(left == 0)
  }

  @Test("A value with several takers is dropped once")
  func values() throws {
    let alive = alive
    let left = try left(declaring: { child in
      try child.define(child.bean(Wrapper.self, factory: { Wrapper(leaf: Leaf(alive)) }))
      try child.define(child.bean(Left.self, factory: { (wrapper: Wrapper) in Left(alive, wrapper.leaf) }))
      try child.define(child.bean(Right.self, factory: { (wrapper: Wrapper?) in Right(alive, wrapper?.leaf) }))
      try child.define(child.bean(Root.self, factory: { (left: Left, right: Right) in Root(alive, left, right, nil) }))
    }) { request in
      _ = try request.getBean(Root.self)
      #expect(alive.value == 4)
    }
    #expect(left == 0)
  }

  /// An object that is referenced elsewhere is retained in the ordinary way.
  @Test("An object that is referenced elsewhere outlives the child")
  func aBeanThatIsReferencedElsewhere() throws {
    let alive = alive
    // No other code uses it.
    nonisolated(unsafe) let shared = Leaf(alive)
    let left = try left(declaring: { child in
      try child.define(child.bean(Leaf.self, factory: { shared }))
      try child.define(child.bean(Left.self, factory: { (leaf: Leaf) in Left(alive, leaf) }))
      try child.define(child.bean(Right.self, factory: { (leaf: Leaf) in Right(alive, leaf) }))
      try child.define(child.bean(Root.self, factory: { (left: Left, right: Right) in Root(alive, left, right, nil) }))
    }) { _ = try $0.getBean(Root.self) }
    #expect(left == 1)
    withExtendedLifetime(shared) {}
  }

  /// The child has more slots than bits.
  @Test("More than seventy beans, with several takers, are dropped once")
  func moreBeansThanBits() throws {
    let alive = alive
    let left = try left(declaring: { child in
      for number in 0..<70 { try child.define(child.bean(Leaf.self, id: "\(number)", factory: { Leaf(alive) })) }
      try child.define(child.bean(Middle.self, factory: { (leaves: [Leaf]) in Middle(alive, leaves.first) }))
      try child.define(child.bean(Left.self, factory: { (middle: Middle) in Left(alive, middle.leaf, middle) }))
      try child.define(child.bean(Right.self, factory: { (middle: Middle) in Right(alive, middle.leaf, middle) }))
      try child.define(child.bean(Root.self, factory: { (left: Left, right: Right) in Root(alive, left, right, nil) }))
    }) { request in
      _ = try request.getBean(Root.self)
      #expect(alive.value == 74)
    }
    #expect(left == 0)
  }

  /// Declares a chain: each bean takes the one before it and the first; the last one is the only root.
  private func chain(_ length: Int, in child: Environment, failingAt failing: Int? = nil) throws {
    let alive = alive
    try child.define(child.bean(Middle.self, id: "0", factory: { Middle(alive, nil) }))
    for number in 1..<length {
      try child.define(
        child.bean(Middle.self, id: "\(number)") { (previous: Middle, first: Middle) in
          if number == failing { throw Failed() }
          return Middle(alive, nil, previous)
        }.argument(0, ref: "\(number - 1)").argument(1, ref: "0"))
    }
  }

  @Test("Hundreds of beans of a request, more than an order usually has, are dropped once", arguments: [129, 130, 400])
  func longOrders(length: Int) throws {
    let left = try left(declaring: { try chain(length, in: $0) }) { request in
      _ = try request.getBean(Middle.self, byId: "\(length - 1)")
      #expect(alive.value == length)
    }
    #expect(left == 0)
  }

  @Test("A part of a long order that exists before its root is dropped once", arguments: [1, 100, 200, 399])
  func longOrdersFromTheMiddle(first: Int) throws {
    let left = try left(declaring: { try chain(400, in: $0) }) { request in
      for number in [first, 399] { _ = try request.getBean(Middle.self, byId: "\(number)") }
      #expect(alive.value == 400)
    }
    #expect(left == 0)
  }

  @Test("The failure of a step of a long order drops the earlier ones once", arguments: [1, 64, 200, 399])
  func longOrdersThatFail(failing: Int) throws {
    let left = try left(declaring: { try chain(400, in: $0, failingAt: failing) }) { request in
      for _ in 0..<2 {
        #expect(throws: EnvironmentError.self) { try request.getBean(Middle.self, byId: "399") }
      }
      #expect(alive.value == failing)
    }
    #expect(left == 0)
  }

  @Test("Beans that an awaited bean and others take are dropped once", arguments: [0, 200])
  func awaitedTakers(others: Int) async throws {
    let alive = alive
    let environment = try Environment()
    let requests = try environment.childFactory("request", seed: Void.self) { child in
      if others > 0 { try chain(others, in: child) }
      try child.define(child.bean(Leaf.self, factory: { Leaf(alive) }))
      try child.define(child.bean(Left.self, async: { (leaf: Leaf) in Left(alive, leaf) }))
      try child.define(child.bean(Right.self, factory: { (leaf: Leaf) in Right(alive, leaf) }))
      let root = child.bean(
        Root.self, factory: { (left: Left, right: Right, leaf: Leaf) in Root(alive, left, right, leaf) })
      try child.define(others > 0 ? root.requires(id: "\(others - 1)") : root)
    }
    let request = try requests.build(())
    try await request.ready()
    _ = try request.getBean(Root.self)
    #expect(alive.value == 4 + others)
    request.finish()
    #expect(alive.value == 0)
    try await environment.shutdown()
  }

  private struct Failed: Error {}

  private struct Population: Sendable {
    let born = Counter()
    let died = Counter()
    var value: Int { born.value - died.value }
  }

  private class Counted {
    private let alive: Population

    init(_ alive: Population) {
      self.alive = alive
      alive.born.increment()
    }

    deinit { alive.died.increment() }
  }

  private final class Leaf: Counted {}

  private struct Wrapper { let leaf: Leaf }

  private class Holder: Counted {
    let leaf: Leaf?
    let other: Counted?

    init(_ alive: Population, _ leaf: Leaf?, _ other: Counted? = nil) {
      self.leaf = leaf
      self.other = other
      super.init(alive)
    }
  }

  private final class Left: Holder {}
  private final class Right: Holder {}
  private final class Middle: Holder {}

  private final class Root: Counted {
    let left: Left
    let right: Right
    let leaf: Leaf?

    init(_ alive: Population, _ left: Left, _ right: Right, _ leaf: Leaf?) {
      self.left = left
      self.right = right
      self.leaf = leaf
      super.init(alive)
    }
  }
}
