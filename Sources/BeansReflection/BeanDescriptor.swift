@_spi(BeansPackage) import BeansErrors

/// A class and its stored properties, inherited ones included.
///
/// Each class has one descriptor. It is made at its first use, without an instance, and kept until the process ends.
/// Works for every class: the types come from the compiler's metadata for the runtime. Callable from any thread; later
/// uses cost a lookup under a lock.
public final class BeanDescriptor: Sendable {
  private let type: AnyClass
  private let superBean: BeanDescriptor?
  private let properties: [PropertyDescriptor]
  private let localCount: Int
  private let propertiesByName: [String: PropertyDescriptor]
  private let implementedTypes = Locked<[Any.Type]>([])

  /// Reads the class's metadata.
  init(_ type: AnyClass, superBean: BeanDescriptor?) {
    self.type = type
    self.superBean = superBean
    let fields = StoredField.declared(by: type)
    // The compiler adds synthetic fields to distributed actors, which identify them; remote instances have no
    // properties.
    let isActor = type is any Actor.Type || fields.contains { $0.isSynthetic }
    let local = fields.lazy.filter { !$0.isSynthetic }
      .map { PropertyDescriptor($0, obstacle: isActor ? "\(type) is an actor" : nil) }
    let inherited = superBean?.properties.map { PropertyDescriptor(inheriting: $0) } ?? []
    localCount = local.count
    properties = inherited + local
    // A subclass may have a property with the name of a private one of its superclass.
    propertiesByName = Dictionary(properties.map { ($0.getName(), $0) }, uniquingKeysWith: { $1 })
  }

  /// Returns the class.
  public func getBeanClass() -> AnyClass { type }

  /// Returns the descriptor of the superclass, or nil for a root class.
  public func getSuperBean() -> BeanDescriptor? { superBean }

  /// Returns the stored properties, inherited ones first; with `local`, only those that the class itself declares.
  public func getProperties(local: Bool = false) -> [PropertyDescriptor] {
    local ? Array(properties.suffix(localCount)) : properties
  }

  /// Returns the property of that name. The class's own property has precedence over an inherited one.
  ///
  /// - Throws: `.unknownProperty` if there is none.
  public func getProperty(_ name: String) throws -> PropertyDescriptor {
    if let property = propertiesByName[name] { return property }
    throw EnvironmentError(.unknownProperty, "\(type) has no stored property '\(name)'\(hint(for: name))")
  }

  /// Returns the property of that name, or nil.
  public func findProperty(_ name: String) -> PropertyDescriptor? { propertiesByName[name] }

  /// Returns `getProperty(name)`.
  ///
  /// - Throws: `.unknownProperty` if there is none.
  public subscript(name: String) -> PropertyDescriptor { get throws { try getProperty(name) } }

  /// Declares protocols that the class conforms to.
  ///
  /// - Throws: `.invalidDeclaration` for a type that is no protocol, `.typeMismatch` if the class does not conform;
  ///   then none of the types is recorded.
  public func implements(_ types: Any.Type...) throws {
    for wanted in types {
      guard TypeRelation.isProtocol(wanted) else {
        throw EnvironmentError(.invalidDeclaration, "\(type) cannot implement \(wanted): it is no protocol")
      }
      guard TypeRelation.isUsable(type, as: wanted) else {
        throw EnvironmentError(cause: .unmetProtocol, "\(type) does not conform to \(wanted)")
      }
    }
    implementedTypes.withLock { known in
      known += types.filter { type in !known.contains { $0 == type } }
    }
  }

  /// The protocols that `implements` has recorded.
  var implemented: [Any.Type] { implementedTypes.withLock { $0 } }

  private func hint(for name: String) -> String {
    if propertiesByName["_" + name] != nil {
      return "; '_\(name)' is one: the storage of a property wrapper, or of a computed property"
    }
    let near = propertiesByName.keys.filter { EditDistance.isSmall($0, name) }.sorted()
    return near.isEmpty ? "" : "; did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))?"
  }
}
