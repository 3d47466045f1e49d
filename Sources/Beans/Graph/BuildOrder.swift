import CBeansRuntime
import Synchronization

/// One bean of a scope, and before it whatever of the same scope it needs: in the order in which that is built.
///
/// What recursion from argument to argument would find out for every request, a plan can find out once. Plain
/// environments build their singletons in an order of their own, so there each bean stands alone.
///
/// The steps stand behind it in memory.
struct BuildOrder: ~Copyable {  // the plan outlives what the pointers name
  struct Step {
    let settled: UnsafeMutablePointer<SlotPlan>
    let slot: Int
    /// All but the bit of the slot, and
    let others: SlotBits
    /// the bits of those it takes, where it only calls its factory with them.
    let takes: SlotBits
    /// What `beans_retain_ahead` writes for all that take the bean later and can be paid for, who asked for it included.
    fileprivate(set) var counts: UInt64 = 0
    /// The step whose bean needs this one; nil for the bean that was asked for.
    fileprivate(set) var dependent: UnsafePointer<Step>?

    fileprivate init(_ settled: UnsafeMutablePointer<SlotPlan>) {
      self.settled = settled
      slot = settled.pointee.recipe._withUnsafeGuaranteedRef { $0.slot }
      others = SlotBits(allBut: slot)
      takes = settled.pointee.takes
    }

    /// One more, if the slot has a bit.
    fileprivate mutating func countTaker() { if others != .all { counts = beans_counts_with_one_more(counts) } }

    /// Labels of the beans this one is built for, outermost first.
    var dependents: [String] {
      sequence(first: dependent, next: { $0?.pointee.dependent })
        .prefix { $0 != nil }.compactMap { $0?.pointee.label }.reversed()
    }

    var recipe: Recipe { settled.pointee.recipe.takeUnretainedValue() }
    var label: String { recipe.label }
  }

  let first: UnsafePointer<Step>
  /// The bean that was asked for.
  let last: UnsafePointer<Step>
  /// Whether all it takes is to call factories with what stands in slots, in a child that notes them in bytes.
  let isDirect: Bool
  /// Whether that stands which they take from further out; see `SlotPlan.isStanding`.
  private let stands = Atomic(false)

  private init(first: UnsafePointer<Step>, last: UnsafePointer<Step>, isDirect: Bool) {
    self.first = first
    self.last = last
    self.isDirect = isDirect
  }

  /// Whether a leader's loop can run through it without looking at what is further out.
  @inline(__always)
  var canRunDirectly: Bool { isDirect && (stands.load(ordering: .acquiring) || findStanding()) }

  @inline(never)
  private func findStanding() -> Bool {
    var step = first
    while step <= last {
      if !step.pointee.settled.pointee.isStanding { return false }
      step += 1
    }
    stands.store(true, ordering: .releasing)
    return true
  }

  static func bytes(steps: Int) -> Int { MemoryLayout<BuildOrder>.stride + steps * MemoryLayout<Step>.stride }

  /// Room for so many steps, which are not there yet.
  private static func start(
    _ count: Int, isDirect: Bool, in memory: UnsafeMutableRawPointer
  ) -> (order: UnsafePointer<BuildOrder>, steps: UnsafeMutablePointer<Step>) {
    let order = memory.bindMemory(to: BuildOrder.self, capacity: 1)
    let steps = UnsafeMutableRawPointer(order + 1).bindMemory(to: Step.self, capacity: count)
    order.initialize(
      to: BuildOrder(first: UnsafePointer(steps), last: UnsafePointer(steps + (count - 1)), isDirect: isDirect))
    return (UnsafePointer(order), steps)
  }

  /// Of a bean that stands alone.
  static func make(
    of settled: UnsafeMutablePointer<SlotPlan>, in memory: inout SlotPlanMemory.Rest
  ) -> UnsafePointer<BuildOrder> {
    let (order, steps) = start(
      1, isDirect: settled.pointee.isDirect, in: memory.take(bytes(steps: 1), of: UInt8.self))
    steps.initialize(to: Step(settled))
    steps.pointee.countTaker()
    return order
  }

  /// Of a recipe of a plan that environments use: those are frozen. To be deallocated by the caller.
  static func make(for root: Recipe) -> UnsafePointer<BuildOrder> {
    var walk = Walk(in: root.plan)
    walk.visit(root)
    let (order, steps) = start(
      walk.found.count,
      isDirect: root.plan.tail.isNarrow && walk.found.allSatisfy { $0.flat?.pointee.isDirect == true },
      in: .allocate(byteCount: bytes(steps: walk.found.count), alignment: MemoryLayout<BuildOrder>.alignment))
    var position: [Int: Int] = [:]
    for (index, recipe) in walk.found.enumerated() {
      (steps + index).initialize(to: Step(recipe.flat.unsafelyUnwrapped))
      position[recipe.slot] = index
    }
    for (slot, dependent) in walk.dependents {
      if let index = position[slot], let other = position[dependent] {
        steps[index].dependent = UnsafePointer(steps + other)
      }
    }
    for index in walk.found.indices {
      steps[index].settled.pointee.forEachTaken { slot in
        if let taken = position[slot] { steps[taken].countTaker() }
      }
    }
    steps[walk.found.count - 1].countTaker()
    return order
  }

  /// Dependencies before dependents, in the order of the arguments. Its stack is its own: graphs may be deep.
  private struct Walk {
    private let plan: Plan
    private(set) var found: [Recipe] = []
    /// By slot: whose need brought it in.
    private(set) var dependents: [Int: Int] = [:]
    private var seen: Set<Int> = []

    init(in plan: Plan) { self.plan = plan }

    mutating func visit(_ root: Recipe) {
      seen.insert(root.slot)
      var stack = [(recipe: root, needs: needs(of: root)[...])]
      while let top = stack.last {
        guard let next = top.needs.first else {
          found.append(top.recipe)
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].needs.removeFirst()
        guard seen.insert(next.slot).inserted else { continue }
        dependents[next.slot] = top.recipe.slot
        stack.append((next, needs(of: next)[...]))
      }
    }

    /// What has more to it than its factory is left to build its own needs, in its own order.
    private func needs(of recipe: Recipe) -> [Recipe] {
      guard plan.scopeName != nil, recipe.flat?.pointee.care == .plain else { return [] }
      return recipe.arguments.flatMap(\.recipes).filter { $0.plan === plan && $0.slot >= 0 && !$0.definition.isSeed }
    }
  }
}
