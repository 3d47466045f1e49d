import CBeansRuntime
import Synchronization

/// Where one factory bean makes its products: the environment it lives in, and what products need from there.
///
/// The first build looks the dependencies up. Where they are the same for every product (beans in slots and what was
/// settled at startup, not prototypes), and nothing is to be done to a product but to call its constructor, they are
/// kept, and later builds only read them. They are retained here, so that such a build does not have to enter the
/// environment: one that is being finished meanwhile does not take them away.
@usableFromInline
final class Assembly: @unchecked Sendable {  // immutable, but for an atomic pointer that is set once
  private let environment: Environment
  private let product: Recipe
  private let count: Int
  /// Whether arguments are kept.
  private let isSettleable: Bool
  /// Retained here, not by the arguments themselves; nil until the first build, and where they are not kept.
  private let settled = Atomic<UnsafeMutablePointer<ArgumentPlace>?>(nil)

  init(of product: Recipe, in environment: Environment) {
    self.product = product
    self.environment = environment
    count = product.arguments.count
    // Every recipe that environments use is frozen. Without an identity each product has to be looked at.
    isSettleable =
      product.flat?.pointee.care == .plain && product.identity != nil
      && product.arguments.allSatisfy { edge in
        edge.recipes.allSatisfy { if case .slot = $0.kind { true } else { false } }
      }
  }

  deinit {
    if let kept = settled.load(ordering: .acquiring) { ResolvedArguments(at: kept, count).deallocate(count) }
  }

  // MARK: the usual product

  /// The arguments of the product's constructor, which live as long as this; nil where a build takes more than calling it.
  @usableFromInline
  func settledArguments() -> Arguments? {
    guard let kept = settled.load(ordering: .acquiring), environment.state & Environment.State.gate == 0,
      !beans_stack_is_low()
    else { return nil }
    environment.used()
    return Arguments(ResolvedArguments(at: kept, count))
  }

  private func settle(_ arguments: ResolvedArguments) {
    guard isSettleable, settled.load(ordering: .relaxed) == nil else { return }
    let kept = ResolvedArguments(keeping: arguments, count)
    let (isFirst, _) = settled.compareExchange(
      expected: nil, desired: kept.address, ordering: .acquiringAndReleasing)
    if !isFirst { kept.deallocate(count) }
  }

  // MARK: any product

  /// A product, with its dependencies looked up, and completed.
  func build<Product>(_ create: (Arguments) throws -> Product) throws -> Product {
    try inside {
      if beans_stack_is_low() { throw environment.tooDeep(.passUnretained(product)) }
      let edges = product.arguments
      return try ResolvedArguments.with(edges.count) { arguments in
        try arguments.resolve(edges.count) { try environment.argument(for: edges[$0]) }
        settle(arguments)
        return try complete(try create(Arguments(arguments)))
      }
    }
  }

  /// A product that turned out to be an instance of a subclass.
  @usableFromInline
  func completeUnforeseen<Product>(_ created: Product) throws -> Product {
    let traits = product.traits(of: unsafeBitCast(created, to: AnyObject.self))
    return traits.isDisjoint(with: [.aware, .bean, .injected]) ? created : try inside { try complete(created) }
  }

  private func complete<Product>(_ created: Product) throws -> Product {
    // A class by its type is an object by its representation; everything else is completed in a box.
    let object: AnyObject =
      Product.self is AnyObject.Type ? unsafeBitCast(created, to: AnyObject.self) : ValueBox(created)
    let traits = product.traits(of: object)
    if product.flat?.pointee.care == .plain, traits.isDisjoint(with: [.aware, .bean, .injected]) { return created }
    let completed = try environment.complete(object, product, traits)
    if completed === object { return created }
    guard let replaced = Box.read(completed, as: Product.self) else {
      throw EnvironmentError(.typeMismatch, "\(type(of: Box.open(completed))) is not a \(Product.self)")
    }
    return replaced
  }

  private func inside<R>(_ body: () throws -> R) throws -> R {
    let leads = try environment.enter()
    defer {
      environment.used()
      environment.leave()
    }
    do {
      return try Frame.with(environment, .passUnretained(product), leads: leads, body)
    } catch { throw failure(error) }
  }

  @usableFromInline @inline(never)
  func failure(_ error: any Error) -> EnvironmentError { environment.failure(error, of: product) }
}
