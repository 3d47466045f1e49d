/// The elements and attributes of Spring's beans schema, from the DTD of version 1 to version 6, and their treatment.
///
/// An attribute or an element that the readers of this module use is not listed; `isRead(_:in:)` names these for hints.
enum SpringSchema {
  enum Use {
    /// Permitted, and without any effect.
    case unused
    /// Not supported. Contains the replacement, and the values that mean the same as a missing attribute.
    case refused(String, unless: Set<String> = [])
  }

  /// Returns the treatment of an attribute that its element's reader does not use; nil if Spring does not have it.
  static func use(of attribute: String, in element: String) -> Use? { attributes[element]?[attribute] }

  /// Returns the treatment of an element in another one that has no reader for it; nil if Spring does not have it.
  static func use(of element: String, inside parent: String) -> Use? { elements[parent]?[element] }

  /// Returns the elements that have an attribute, for hints.
  static func owners(of attribute: String) -> [String] {
    read.filter { $0.value.contains(attribute) }.keys.sorted()
  }

  /// Returns the element that contains elements of a name, for a hint at one in another place; nil for a name that Spring
  /// does not have, and where the place has an element of its own for it.
  static func place(of element: String, not place: String) -> String? {
    guard !["<map>", "<props>", "<entry>", "<key>"].contains(place), let home = places[element] else { return nil }
    return place == "<\(home)>" ? nil : home
  }

  private static let places = [
    "bean": "beans", "import": "beans", "alias": "beans", "property": "bean", "constructor-arg": "bean",
    "lookup-method": "bean", "replaced-method": "bean", "qualifier": "bean", "meta": "bean", "entry": "map",
    "key": "entry", "prop": "props", "ref": "property", "idref": "property", "value": "property", "list": "property",
    "set": "property", "map": "property", "props": "property", "array": "property", "null": "property",
  ]

  /// The attributes that the readers of this module use.
  private static let read: [String: Set<String>] = [
    "beans": ["profile", "default-lazy-init", "default-merge"],
    "bean": [
      "id", "class", "parent", "scope", "lazy", "lazy-init", "abstract", "primary", "depends-on", "target", "profile",
      "confined-to", "assume-sendable",
    ],
    "property": ["name", "value", "ref"], "constructor-arg": ["index", "value", "ref"],
    "import": ["resource"], "alias": ["name", "alias"], "module": ["class", "profile"],
    "ref": ["bean"], "idref": ["bean"], "value": ["type"],
    "list": ["value-type", "merge"], "map": ["key-type", "value-type", "merge"], "props": ["merge"],
    "entry": ["key", "key-ref", "value", "value-ref", "value-type"], "prop": ["key"],
  ]

  private static let postConstruct = "conform to Bean, whose postConstruct() is called"
  private static let preDestroy = "conform to DisposableBean, whose preDestroy() is called"
  private static let injection = "declare injections in the class's initializeBeanDescriptor, or set the property here"
  private static let primary = "mark the preferred bean with primary=\"true\""

  private static let attributes: [String: [String: Use]] = [
    "beans": [
      "default-init-method": .refused(postConstruct),
      "default-destroy-method": .refused(preDestroy),
      "default-autowire": .refused(injection, unless: ["no", "default"]),
      "default-autowire-candidates": .refused(primary, unless: ["*"]),
      "default-dependency-check": .refused(required, unless: ["none", "default"]),
    ],
    "bean": [
      "init-method": .refused(postConstruct, unless: [""]),
      "destroy-method": .refused(preDestroy, unless: [""]),
      "factory-method": .refused("declare the factory in Swift, and name it as the parent"),
      "factory-bean": .refused("declare a FactoryBean with a target, or the factory in Swift"),
      "autowire": .refused(injection, unless: ["no", "default"]),
      "autowire-candidate": .refused(primary, unless: ["true", "default"]),
      "dependency-check": .refused(required, unless: ["none", "default"]),
      "singleton": .refused("write scope=\"prototype\"", unless: ["true"]),
      "fallback": .refused(primary, unless: ["false"]),
    ],
    "constructor-arg": [
      "name": .refused("use index: the number of the factory's parameter, from 0"),
      "type": .refused("use index: the type is that of the factory's parameter"),
    ],
    "property": ["type": .refused("the type is that of the property: omit it")],
    "ref": ["parent": .refused("use bean: an id that this environment does not have is one of its parent")],
    "props": ["value-type": .unused],
  ]
  private static let required = "make the property a parameter of the factory, which startup requires"

  private static let elements: [String: [String: Use]] = [
    "bean": [
      "lookup-method": .refused("declare a property of type Provider in the class, and set it here"),
      "replaced-method": .refused("decorate the bean, or declare a subclass, in Swift"),
      "qualifier": .refused("declare the tag in Swift by qualifier(_:), or refer to the bean by its id"),
      "meta": .unused,
    ],
    "property": ["meta": .unused], "constructor-arg": ["meta": .unused],
  ]
}
