import BeansErrors
import BeansReflection

extension BeanDirectory {
  /// One bean that an environment declares.
  struct Entry: Sendable {
    let type: Any.Type
    var id: String?
    let lifetime: Lifetime
    var isPrimary = false
    /// Whether this is a seed, which only its own type finds, and which is not a bean.
    var isSeed = false
    /// The type of the factory bean that makes the object; the factory bean has an entry of its own.
    var maker: Any.Type?
    /// Rarely used parts of an entry, allocated on demand.
    var options: EntryOptions?
    /// The type of the products that the bean, a factory, makes from seeds.
    var product: Any.Type?
    var isLazy = false
    let location: SourceLocation
    var traits: BeanTraits = []

    var decorated: Decorated? { options?.decorated }
    var privateTo: ObjectIdentifier? { options?.privateTo }
    var isDecorator: Bool { options?.decorated != nil }

    /// The bean's own id, with the module that it is private to; nil for a bean without an id.
    var beanId: BeanId? { id.map { BeanId($0, privateTo: privateTo) } }

    /// Whether the declarations of a module find the bean; without a module, declarations outside all modules.
    func isVisible(from module: ObjectIdentifier?) -> Bool {
      options == nil || privateTo == nil || privateTo == module
    }

    func meets(_ criteria: Criteria) -> Bool {
      isVisible(from: criteria.module) && criteria.qualifier.map { options?.qualifiers.contains($0) ?? false } ?? true
    }

    /// Whether a lookup by a superclass or a protocol finds the bean.
    var isCandidate: Bool { !isSeed && !isDecorator }

    func isLike(_ other: Entry) -> Bool {
      type == other.type && isSeed == other.isSeed && !isDecorator
    }

    /// The bean as a step on the path of a fault.
    @inline(never)
    var step: EnvironmentError.Step { EnvironmentError.Step(label, origin: location.origin) }

    /// The name of the bean in paths.
    @inline(never)
    var label: String { decorated.map { "decorator of \($0.label)" } ?? Self.label(type, id) }

    static func label(_ type: Any.Type, _ id: String?) -> String { id.map { "\(type) '\($0)'" } ?? "\(type)" }

    /// The line of a report about the bean.
    var text: String {
      Self.text(type, id, maker, isLazy: isLazy, isPrimary: isPrimary, scopeName: lifetime.name)
        + (options?.sharing.map { " \($0)" } ?? "")
    }

    /// Returns the line of a report about a declaration.
    ///
    /// - Parameters:
    ///   - type: the bean's type; nil for a template without a class.
    ///   - id: the bean's own id, not an alias.
    ///   - maker: the type of the factory bean that makes the bean.
    ///   - isLazy: whether the bean is built at its first lookup.
    ///   - isAbstract: whether the declaration is a template.
    ///   - isPrimary: whether the bean is preferred to others of its type.
    ///   - scopeName: the name of the bean's scope.
    static func text(
      _ type: Any.Type?, _ id: String?, _ maker: Any.Type? = nil, isLazy: Bool, isAbstract: Bool = false,
      isPrimary: Bool, scopeName: String
    ) -> String {
      var words = [type.map { "\($0)" } ?? "template"]
      if let id { words.append("\"\(id)\"") }
      if let maker { words.append("factory: \(maker)") }
      if isLazy { words.append("lazy: true") }
      if isAbstract { words.append("abstract: true") }
      if isPrimary { words.append("primary: true") }
      if scopeName != "singleton" { words.append("scope: \(scopeName)") }
      return words.joined(separator: " ")
    }

    @inline(never)
    func fault(
      _ cause: FaultCause, _ message: String, steps: [EnvironmentError.Step] = []
    ) -> EnvironmentError {
      EnvironmentError(cause: cause, message, steps: steps.isEmpty ? [step] : steps, origin: location.origin)
    }
  }

  /// Rarely used parts of an entry.
  final class EntryOptions: Sendable {
    /// The decorated bean, if this bean is a decorator. Lookups find a decorator only through its decorated bean.
    let decorated: Decorated?
    /// Types that distinguish the bean from others of its type.
    let qualifiers: [ObjectIdentifier]
    /// The only module whose declarations find the bean.
    let privateTo: ObjectIdentifier?
    /// The reason why several threads may share the bean although its type is not known to be `Sendable`.
    let sharing: String?

    init(decorated: Decorated?, qualifiers: [ObjectIdentifier], privateTo: ObjectIdentifier?, sharing: String?) {
      (self.decorated, self.qualifiers, self.privateTo) = (decorated, qualifiers, privateTo)
      self.sharing = sharing
    }
  }

  /// The criteria of a search for beans, besides the type.
  struct Criteria {
    /// The module of the declaration that requests the bean.
    var module: ObjectIdentifier?
    /// The qualifier that a bean must have.
    var tag: Any.Type?

    var qualifier: ObjectIdentifier? { tag.map { ObjectIdentifier($0) } }
  }

  /// The meaning of an id.
  enum Meaning: Sendable {
    /// A declaration, by its index in `declared`.
    case declaration(Int32)
    /// A factory behind its product, by its entry. No declaration has the id itself.
    case factory(Int32)
    /// The id that an alias refers to, where that id is declared further out.
    indirect case outer(BeanId)
    /// An alias that names no bean.
    case nothing

    /// The index of the declaration in `declared`; nil if there is none.
    var position: Int? { if case .declaration(let position) = self { Int(position) } else { nil } }
  }

  /// A bean of this directory or of one further out. The directory where the search started retains the bean's
  /// directory.
  struct Found: Sendable {
    private let home: Unretained<BeanDirectory>
    let number: Int32
    let hops: Int

    init(directory: BeanDirectory, number: Int32, hops: Int) {
      (home, self.number, self.hops) = (Unretained(directory), number, hops)
    }

    var directory: BeanDirectory { home.object }
    /// The bean as seen from an environment one step further in.
    var further: Found { Found(directory: directory, number: number, hops: hops + 1) }
    var entry: Entry { _read { yield home.object.entries[Int(number)] } }
    var type: Any.Type { home.with { $0.entries[Int(number)].type } }
    var lifetime: Lifetime { home.with { $0.entries[Int(number)].lifetime } }
  }

  /// The target of a decorator: a bean, or another decorator of that bean.
  struct Decorated: Sendable {
    /// The directory of the target; nil for the decorator's own directory.
    let home: Unretained<BeanDirectory>?
    let number: Int32
    /// The name of the bean in messages; `id` is its id.
    let label: String
    let id: String?

    /// The bean of a decorator that has nothing to decorate, which is a fault.
    static func missing(_ type: Any.Type) -> Decorated {
      Decorated(home: nil, number: -1, label: "\(type)", id: nil)
    }

    var isMissing: Bool { number < 0 }
  }

  /// The key of a decorator: a bean, and the type by which it is requested.
  struct DecoratorKey: Hashable {
    /// The directory of the bean; nil for the decorator's own directory.
    let home: ObjectIdentifier?
    let number: Int32
    let type: ObjectIdentifier
  }
}
