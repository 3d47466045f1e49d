@_spi(BeansPackage) import BeansSupport
import Synchronization
import Testing

@testable import Beans

/// The memory of a factory's child: whatever its size, beans are found, and released in reverse order of creation.
@Suite(.timeLimit(.minutes(5)))
struct TailTests {
  /// Notes what happens to the beans of a child.
  private final class Trail: Sendable {
    private let entries = Locked<[Int]>([])
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

  /// The order is kept in bytes up to 256 slots, the seed's included, and in pairs of bytes beyond.
  @Test(arguments: [1, 7, 8, 9, 254, 255, 256, 257, 700])
  func ordersOfEverySize(count: Int) throws {
    let trail = Trail()
    let (environment, child) = try child(of: count, seed: -1, trail)
    // Neither in the order of declaration nor in the reverse.
    let asked = (0..<count).map { ($0 * 5 + 3) % count }.reduce(into: [Int]()) { if !$0.contains($1) { $0.append($1) } }
    for number in asked { #expect(try child.getBean(Int.self, byId: "\(number)") == number) }
    #expect(child.createdBeans == asked.count)
    child.finish()
    #expect(trail.all == asked.reversed())
    try environment.shutdown() as Void
  }

  /// Too many for numbers of two bytes: nobody leads there, and the order is kept elsewhere.
  @Test func moreSlotsThanTheOrderCanName() throws {
    let trail = Trail()
    let (environment, child) = try child(of: 66_000, seed: 1, trail)
    let asked = [65_999, 0, 65_535, 65_536, 12]
    for number in asked { #expect(try child.getBean(Int.self, byId: "\(number)") == number) }
    #expect(child.header.created.load(ordering: .relaxed) == 0)
    child.finish()
    #expect(trail.all == asked.reversed())
    try environment.shutdown() as Void
  }

  @Test func aScopeObjectStandsBehindTheSlots() throws {
    weak var weakScope: AbstractBeanScope?
    do {
      let environment = try Environment()
      let factory = try environment.childFactory(
        "request", seed: Int.self, scope: { AbstractBeanScope(name: "request") },
        configure: { try $0.define($0.bean("bean")) })
      let child = try factory.build(7)
      weakScope = child.scope.custom as? AbstractBeanScope
      #expect(weakScope != nil)
      #expect(try child.getBean(String.self) == "bean")
      #expect(try child.getBean(Int.self) == 7)
      try environment.shutdown() as Void
    }
    #expect(weakScope == nil)
  }
}
