package import BeansReflection

/// The place of a declaration that takes a bean or a value, as faults and graphs name it.
///
/// Most points are parameters, so the other cases are indirect.
package enum InjectionPoint: CustomStringConvertible {
  /// A bean that must exist before.
  case requirement
  /// A parameter of the factory, counted from 0.
  case parameter(Int)
  /// A property that the declaration sets.
  indirect case property(PropertyInjection.Name)
  /// A property that the class declares as injected.
  indirect case injection(PropertyDescriptor, name: String)
  indirect case element(Int, of: InjectionPoint)
  indirect case key(Int, of: InjectionPoint)

  package var description: String {
    switch self {
    case .requirement: "requires"
    case .parameter(let index): "\(Self.ordinal(index)) parameter"
    case .property(let name): "\(name)"
    case .injection(let property, let name): "property '\(name)' of \(property.owner)"
    case .element(let index, let collection): "\(collection), element \(index)"
    case .key(let index, let map): "\(map), key \(index)"
    }
  }

  /// Returns "first" for 0, "second" for 1, and so on.
  private static func ordinal(_ index: Int) -> String {
    let words = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
    if words.indices.contains(index) { return words[index] }
    let number = index + 1
    let endings = [1: "st", 2: "nd", 3: "rd"]
    let isTeen = (11...13).contains(number % 100)
    return "\(number)" + (isTeen ? "th" : endings[number % 10] ?? "th")
  }

  /// Whether this is a parameter of a factory.
  var isParameter: Bool { if case .parameter = self { true } else { false } }

  /// The name without the class of a property: the label of an edge in a graph.
  package var label: String {
    switch self {
    case .requirement: return ""
    case .parameter(let index): return "parameter \(index)"
    case .property(.text): return description
    // The description of a key path may contain only the property's offset in memory.
    case .property(.path(let path)):
      let path = "\(path)"
      return if path.contains("<") { "property" } else { "property '\(path.split(separator: ".").last ?? "")'" }
    case .injection(_, let name): return "property '\(name)'"
    case .element(_, let whole), .key(_, let whole): return whole.label
    }
  }
}
