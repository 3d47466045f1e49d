/// The slot plans of some recipes and all that belongs to them, in one piece of memory: a plan has thousands of these
/// small parts, and all of them end together.
final class SlotPlanMemory {
  private let slotPlans: UnsafeMutablePointer<SlotPlan>
  private var count = 0

  /// Settles what the linker has written for one plan.
  init(_ recipes: __shared ArraySlice<Recipe>, in plan: __shared Plan) {
    let all = Self.withProducts(recipes)
    let bytes = all.reduce(into: 0) { $0 += MemoryLayout<SlotPlan>.stride + SlotPlan.bytesBehind($1, in: plan) }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: MemoryLayout<SlotPlan>.alignment)
    slotPlans = memory.assumingMemoryBound(to: SlotPlan.self)
    var rest = Rest(memory + all.count * MemoryLayout<SlotPlan>.stride)
    // A recipe's product comes before it.
    for recipe in all {
      let settled = slotPlans + count
      settled.initialize(to: SlotPlan(recipe, in: plan, &rest))
      recipe.flat = settled
      if settled.pointee.standsAlone { settled.pointee.standAlone(at: settled, &rest) }
      count += 1
    }
  }

  deinit {
    slotPlans.deinitialize(count: count)
    slotPlans.deallocate()
  }

  private static func withProducts(_ recipes: ArraySlice<Recipe>) -> ArraySlice<Recipe> {
    if recipes.allSatisfy({ $0.product == nil }) { return recipes }
    let all = recipes.flatMap { recipe in
      guard let product = recipe.product else { return [recipe] }
      product.isInfrastructure = recipe.isInfrastructure
      return [product, recipe]
    }
    return all[...]
  }

  /// What has not been given out. Everything in it is of whole words.
  struct Rest {
    private var next: UnsafeMutableRawPointer

    fileprivate init(_ start: UnsafeMutableRawPointer) { next = start }

    /// Room for that many.
    mutating func take<Part>(_ count: Int, of type: Part.Type = Part.self) -> UnsafeMutablePointer<Part> {
      defer { next += count * MemoryLayout<Part>.stride }
      return next.bindMemory(to: type, capacity: count)
    }
  }
}
