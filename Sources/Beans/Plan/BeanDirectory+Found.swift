extension BeanDirectory {
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
    /// A factory behind its product, by its number. No declaration has the id itself.
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
    var definition: BeanDefinition { home.with { $0.beans[Int(number)] } }
    var type: Any.Type { home.with { $0.beans[Int(number)].type } }
    var lifetime: Lifetime { home.with { $0.beans[Int(number)].lifetime } }
  }

  /// The target of a decorator: a bean, or another decorator of that bean.
  struct Decorated: Sendable {
    /// The directory of the target; nil for the decorator's own directory.
    let home: Unretained<BeanDirectory>?
    let number: Int32
    /// The bean, inside all its decorators; nil for a decorator that has nothing to decorate, which is a fault.
    let bean: BeanDefinition?
  }

  /// The key of a search: the bean or the directory at which it starts, and the requested type.
  struct SearchKey: Hashable {
    private let start: ObjectIdentifier
    private let type: ObjectIdentifier

    init(_ start: AnyObject, as type: Any.Type) {
      (self.start, self.type) = (ObjectIdentifier(start), ObjectIdentifier(type))
    }
  }
}
