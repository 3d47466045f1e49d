import CBeansRuntime
import Synchronization

/// The recipe that a build is building, which the builder stores before each step and which other threads read seldom.
///
/// The builder announces a recipe, then reads the slot. Another thread that wants to take the step over writes the slot,
/// then observes the recipe. At least one of the two sees the other. The builder pays for a plain store; the observer
/// makes all threads run a memory barrier. Where the system has no such barrier, the builder's store is an exchange that
/// no later access overtakes.
struct Announcement: ~Copyable, Sendable {
  private let word = Atomic<FrozenReference<Recipe>?>(nil)

  /// The recipe, without an order among other accesses.
  var recipe: FrozenReference<Recipe>? {
    @inline(__always) get { word.load(ordering: .relaxed) }
    @inline(__always) nonmutating set { word.store(newValue, ordering: .relaxed) }
  }

  /// Stores the recipe before the builder reads what observers write.
  @inline(__always)
  func announce(_ recipe: FrozenReference<Recipe>) {
    #if !BEANS_ORDINARY_REFERENCES
      if beans_has_barrier() {
        word.store(recipe, ordering: .relaxed)
        return beans_compiler_fence()
      }
    #endif
    _ = word.exchange(recipe, ordering: .sequentiallyConsistent)
  }

  /// Returns the recipe after the observer has written what the builder reads.
  func observe() -> FrozenReference<Recipe>? {
    beans_run_barrier()
    return word.load(ordering: .sequentiallyConsistent)
  }
}
