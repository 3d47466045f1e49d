import BeansReflection

extension Reading {
  /// How a bean is read as what a parameter asks for; nil where a value of another type has to be made of it.
  ///
  /// - Parameters:
  ///   - parameter: what is asked for.
  ///   - type: the declared type of the bean.
  ///   - isClass: whether that is a class.
  ///   - identity: the class of what the bean's slot holds, where startup can know it.
  ///   - layouts: keeps what the reading names.
  init?(
    _ parameter: Parameter, of type: Any.Type, isClass: Bool, _ identity: ObjectIdentifier?,
    _ layouts: inout LayoutTable
  ) {
    if parameter.isReference, isClass {
      self = .reference
    } else if type == parameter.wanted {
      // A struct or existential looked up as exactly the type it is declared with stands in its box already.
      self = .boxed
    } else if case .one = parameter.kind, isClass, let identity, let layout = layouts.layout(parameter.wanted, identity)
    {
      self.init(layout)
    } else {
      return nil
    }
  }
}

/// Existential layouts, one for each class and protocol type.
struct LayoutTable {
  private struct LayoutKey: Hashable {
    let type: ObjectIdentifier
    let identity: ObjectIdentifier
  }

  private var known: [LayoutKey: ExistentialLayout] = [:]

  mutating func layout(_ type: Any.Type, _ identity: ObjectIdentifier) -> ExistentialLayout? {
    let key = LayoutKey(type: ObjectIdentifier(type), identity: identity)
    if let layout = known[key] { return layout }
    let made = ExistentialLayout(type, for: identity)
    known[key] = made
    return made
  }

  var all: [ExistentialLayout] { Array(known.values) }
}
