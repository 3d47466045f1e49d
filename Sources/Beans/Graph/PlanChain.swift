/// A plan and its ancestors, nearest first, with their distance. Costs nothing but the steps: startup takes many.
struct PlanChain: Sequence, IteratorProtocol {
  private var plan: Plan?
  private var hops = 0

  init(from plan: Plan) { self.plan = plan }

  mutating func next() -> (plan: Plan, hops: Int)? {
    guard let plan else { return nil }
    defer {
      self.plan = plan.parent
      hops += 1
    }
    return (plan, hops)
  }
}
