import Beans
import Synchronization
import Testing

/// A factory's child of any size finds its beans, and releases them in reverse order of creation.
@Suite("Children of every size", .timeLimit(.minutes(20)))
struct ChildSizeSpecification {
  /// Notes the creations and releases of a child's beans.
  private final class Trail: Sendable {
    private let entries = Guarded<[Int]>([])
    func note(_ number: Int) { entries.withLock { $0.append(number) } }
    var all: [Int] { entries.withLock { $0 } }
  }

  private func child(of count: Int, seed: Int, _ trail: Trail) throws -> (parent: Environment, child: Environment) {
    let environment = try Environment()
    let factory = try environment.childFactory("request", seed: Int.self) { child in
      for number in 0..<count {
        try child.define(child.bean(number, id: "\(number)").onDestroy { trail.note($0) })
      }
    }
    return (environment, try factory.build(seed))
  }

  /// Counts around the largest number of one byte; the seed is included.
  @Test(
    "A child of any size releases its beans in reverse order of creation",
    arguments: [1, 7, 8, 9, 254, 255, 256, 257, 700])
  func ordersOfEverySize(count: Int) throws {
    let trail = Trail()
    let (environment, child) = try child(of: count, seed: -1, trail)
    // The order is neither that of declaration nor its reverse.
    let asked = (0..<count).map { ($0 * 5 + 3) % count }.reduce(into: [Int]()) { if !$0.contains($1) { $0.append($1) } }
    for number in asked { #expect(try child.getBean(Int.self, byId: "\(number)") == number) }
    child.finish()
    #expect(trail.all == asked.reversed())
    #expect(environment.statistics().first { $0.scope == "request" }?.created == asked.count)
    try environment.shutdown() as Void
  }

  /// The child has more slots than two bytes can number.
  @Test("A child of 66,000 beans finds them and releases them in reverse order of creation")
  func moreSlotsThanTheOrderCanName() throws {
    let trail = Trail()
    let (environment, child) = try child(of: 66_000, seed: 1, trail)
    let asked = [65_999, 0, 65_535, 65_536, 12]
    for number in asked { #expect(try child.getBean(Int.self, byId: "\(number)") == number) }
    child.finish()
    #expect(trail.all == asked.reversed())
    try environment.shutdown() as Void
  }

  @Test("A scope object is deallocated with its child")
  func aScopeObjectEndsWithItsChild() throws {
    weak var weakScope: AbstractBeanScope?
    do {
      let environment = try Environment()
      let scope = Captured<AbstractBeanScope>()
      let factory = try environment.childFactory(
        "request", seed: Int.self,
        configure: { try $0.define($0.bean("bean")) },
        scope: {
          let made = AbstractBeanScope(name: "request")
          scope.value = made
          return made
        })
      let child = try factory.build(7)
      weakScope = scope.value
      scope.value = nil
      #expect(weakScope != nil)
      #expect(try child.getBean(String.self) == "bean")
      #expect(try child.getBean(Int.self) == 7)
      try environment.shutdown() as Void
    }
    #expect(weakScope == nil)
  }
}
