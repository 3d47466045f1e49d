/// The end of one bean: `preDestroy`, then `.onDestroy`. Both run, whatever the first throws.
struct BeanRelease {
  private let object: AnyObject
  private let traits: LifecycleTraits
  private let bean: Named
  private let callbacks: [BeanCallback]

  /// What to ask for the bean's name, should the release fail.
  private enum Named {
    case definition(Definition)
    case declaration(BeanDeclaration)
  }

  /// nil where there is nothing to do but to let go.
  init?(_ object: AnyObject, of recipe: Recipe) {
    let traits = recipe.traits(of: object)
    if recipe.definition.onDestroys.isEmpty, traits.isDisjoint(with: [.disposable, .asyncDisposable]) { return nil }
    self.init(object, of: recipe, traits)
  }

  private init(_ object: AnyObject, of recipe: Recipe, _ traits: LifecycleTraits) {
    self.object = object
    self.traits = traits
    self.bean = .definition(recipe.definition)
    self.callbacks = recipe.definition.onDestroys
  }

  init(_ object: AnyObject, of declaration: BeanDeclaration) {
    self.object = object
    self.traits = LifecycleTraits(of: type(of: Box.open(object)))
    self.bean = .declaration(declaration)
    self.callbacks = declaration.callbacks
  }

  private var label: String {
    switch bean {
    case .definition(let definition): definition.label
    case .declaration(let declaration): declaration.label
    }
  }

  private var origin: EnvironmentError.Origin {
    switch bean {
    case .definition(let definition): definition.origin
    case .declaration(let declaration): declaration.origin
    }
  }

  /// Whether the release has to be awaited.
  var isAsynchronous: Bool { traits.contains(.asyncDisposable) }

  /// Where nobody can wait: an asynchronous bean is a failure that names it; its callbacks still run.
  func runSynchronously() -> EnvironmentError? {
    var errors: [any Error] = []
    if isAsynchronous {
      errors.append(
        EnvironmentError(
          .destructionFailed, "\(label) is released asynchronously: use 'await shutdown()' or a scope bound to a loop",
          path: [label], origin: origin))
    } else if let bean = disposable {
      collect(&errors) { try bean.preDestroy() }
    }
    runCallbacks(&errors)
    return failure(errors)
  }

  /// The same for an instance of exactly the class that startup expects, where nothing has to be awaited. Answers what
  /// went wrong as it is: nearly always nothing, and the error of a release is large.
  static func run(_ object: AnyObject, _ settled: UnsafeMutablePointer<SlotPlan>) -> [any Error] {
    var errors: [any Error] = []
    settled.pointee.recipe._withUnsafeGuaranteedRef { recipe in
      if let form = settled.pointee.disposable {
        do { try form.value(of: object, as: (any DisposableBean).self).preDestroy() } catch { errors.append(error) }
      }
      for callback in recipe.definition.onDestroys {
        do { try callback(object) } catch { errors.append(error) }
      }
    }
    return errors
  }

  /// What that was for the bean, if anything.
  static func failure(_ errors: [any Error], of object: AnyObject, _ recipe: Recipe) -> EnvironmentError? {
    BeanRelease(object, of: recipe, recipe.traits).failure(errors)
  }

  private var disposable: (any DisposableBean)? {
    guard traits.contains(.disposable) else { return nil }
    return Box.open(object) as? any DisposableBean
  }

  func runAsynchronously() async -> EnvironmentError? {
    var errors: [any Error] = []
    if let bean = Box.open(object) as? any AsyncDisposableBean {
      do { try await bean.preDestroy() } catch { errors.append(error) }
    }
    runCallbacks(&errors)
    return failure(errors)
  }

  private func runCallbacks(_ errors: inout [any Error]) {
    for callback in callbacks { collect(&errors) { try callback(object) } }
  }

  private func collect(_ errors: inout [any Error], _ body: () throws -> Void) {
    do { try body() } catch { errors.append(error) }
  }

  private func failure(_ errors: [any Error]) -> EnvironmentError? {
    guard let first = errors.first else { return nil }
    if errors.count == 1, let error = first as? EnvironmentError, error.code == .destructionFailed { return error }
    let (label, origin) = (label, origin)
    let reasons = errors.map { "\($0)" }.joined(separator: "; ")
    return EnvironmentError(
      .destructionFailed, "\(label) could not be released: \(reasons)", path: [label], origin: origin,
      underlying: errors)
  }
}
