import CBeansRuntime

/// What the current thread is doing in the container: a stack of lookups and builds, innermost first.
///
/// Frames live on the thread's own stack and are linked through one thread-local pointer, so a lookup made by a factory
/// finds the build it belongs to: that is how circles are seen that no plan could foresee.
struct Frame {
  let environment: Unmanaged<Environment>
  /// What is being built by itself; nil for a lookup from outside, and for
  private let single: Unmanaged<Recipe>?
  /// an order of builds, which has come so far, if it has begun. Not an optional: the compiler would keep it twice.
  var step = UnsafePointer<BuildOrder.Step>(bitPattern: MemoryLayout<BuildOrder.Step>.alignment).unsafelyUnwrapped
  var progress = Progress.none

  /// What is happening to the step.
  enum Progress {
    /// There is none.
    case none
    /// It waits for another thread, or is left to a scope object.
    case heldUp
    case building
  }

  let outer: UnsafeMutablePointer<Frame>?
  /// Whether this thread leads in the environment; see `CreationOrder`.
  let leads: Bool

  /// What is being built just now.
  private var recipe: Unmanaged<Recipe>? { progress == .building ? step.pointee.settled.pointee.recipe : single }

  static var innermost: UnsafeMutablePointer<Frame>? {
    beans_resolution().map { $0.assumingMemoryBound(to: Frame.self) }
  }

  @inline(__always)
  static func with<R>(
    _ environment: Environment, _ recipe: Unmanaged<Recipe>?, leads: Bool, _ body: () throws -> R
  ) rethrows -> R {
    try with(environment, recipe, leads: leads) { _ in try body() }
  }

  @inline(__always)
  static func with<R>(
    _ environment: Environment, _ recipe: Unmanaged<Recipe>?, leads: Bool,
    _ body: (UnsafeMutablePointer<Frame>) throws -> R
  ) rethrows -> R {
    let outer = beans_resolution()
    // A lookup from a factory does not find the environment empty: the thread leads because it did further out.
    var frame = Frame(
      environment: .passUnretained(environment), single: recipe,
      outer: outer?.assumingMemoryBound(to: Frame.self), leads: leads || self.leads(in: environment))
    return try withUnsafeMutablePointer(to: &frame) { pointer in
      beans_set_resolution(pointer)
      defer { beans_set_resolution(outer) }
      return try body(pointer)
    }
  }

  /// Whether what this thread does in the environment just now, it does as the leader.
  @inline(__always)
  static func leads(in environment: Environment) -> Bool {
    guard let frame = innermost?.pointee else { return false }
    return frame.leads && frame.environment.toOpaque() == Unmanaged.passUnretained(environment).toOpaque()
  }

  /// All frames of this thread, innermost first.
  static var all: some Sequence<Frame> {
    sequence(first: innermost, next: { $0.map { $0.pointee.outer } }).lazy.compactMap { $0?.pointee }
  }

  /// Whether this thread is inside the environment, so that waiting for the environment would never end.
  static func isInside(_ environment: Environment) -> Bool {
    let isInside = all.contains { frame in
      frame.environment._withUnsafeGuaranteedRef { $0 === environment || $0.isDescendant(of: environment) }
    }
    return isInside || environment.isLentHere
  }

  func isBuild(of recipe: Recipe, in environment: Environment) -> Bool {
    self.recipe?.toOpaque() == Unmanaged.passUnretained(recipe).toOpaque()
      && self.environment.toOpaque() == Unmanaged.passUnretained(environment).toOpaque()
  }

  /// Whether this thread is building that bean there.
  static func isBuilding(_ recipe: Recipe, in environment: Environment) -> Bool {
    var next = innermost
    while let frame = next {
      if frame.pointee.isBuild(of: recipe, in: environment) { return true }
      next = frame.pointee.outer
    }
    return false
  }

  /// Labels of the beans under construction here, outermost first.
  private var labels: [String] {
    (progress == .none ? [] : step.pointee.dependents)
      + (recipe.map { [$0._withUnsafeGuaranteedRef { $0.label }] } ?? [])
  }

  /// Labels of the beans under construction on this thread, outermost first.
  static var path: [String] { Array(all).reversed().flatMap(\.labels) }

  /// The same, from the build of `recipe` on.
  static func path(from recipe: Recipe, in environment: Environment) -> [String] {
    var inner: [String] = []
    for frame in all {
      if frame.isBuild(of: recipe, in: environment) { return [recipe.label] + inner }
      inner = frame.labels + inner
    }
    return inner
  }
}
