import BeansErrors
@_spi(BeansPackage) import BeansSupport

/// A class and its stored properties, inherited ones included.
///
/// There is one descriptor per class, made when it is first asked for, without an instance, and kept as long as the
/// process. Works for every class: the types are read from what the compiler leaves for the runtime. From any thread;
/// costs a lookup under a lock once it is made.
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
    // Distributed actors are known by what the compiler adds to them; where they are remote they have no properties.
    let isActor = type is any Actor.Type || fields.contains { $0.isSynthetic }
    let local = fields.lazy.filter { !$0.isSynthetic }
      .map { PropertyDescriptor($0, obstacle: isActor ? "\(type) is an actor" : nil) }
    let inherited = superBean?.properties.map { PropertyDescriptor(inheriting: $0) } ?? []
    localCount = local.count
    properties = inherited + local
    // A subclass may have a property with the name of a private one of its superclass.
    propertiesByName = Dictionary(properties.map { ($0.getName(), $0) }, uniquingKeysWith: { $1 })
  }

  /// The descriptor of a class.
  ///
  /// - Throws: `.typeMismatch` for other types; what an initializer throws.
  public static func forType(_ type: Any.Type) throws -> BeanDescriptor {
    guard let type = type as? AnyClass else {
      throw EnvironmentError(.typeMismatch, "\(type) is no class: only classes have bean descriptors")
    }
    return try forClass(type)
  }

  /// The descriptor of a class.
  ///
  /// - Throws: what an initializer of the class or of its superclasses throws.
  public static func forClass(_ type: AnyClass) throws -> BeanDescriptor { try DescriptorRegistry.descriptor(of: type) }

  /// The descriptor of a class by name: `Module.Class`, `Module.Outer.Inner`, or the end of it, as far as it is unique.
  ///
  /// Searches all types of the loaded images: startup only.
  ///
  /// - Throws: `.unknownClass` where no class has the name, where several have it, and for generic classes; what an
  ///   initializer throws.
  public static func forClass(_ name: String) throws -> BeanDescriptor { try forClass(ClassName.find(name)) }

  /// The descriptor of the class an object was made from.
  ///
  /// - Throws: what an initializer of the class or of its superclasses throws.
  public static func forInstance(_ instance: AnyObject) throws -> BeanDescriptor {
    try forClass(Swift.type(of: instance))
  }

  /// The class.
  public func getBeanClass() -> AnyClass { type }

  /// The descriptor of the superclass, where there is one.
  public func getSuperBean() -> BeanDescriptor? { superBean }

  /// The direct subclasses among the classes described so far.
  public func getSubBeans() -> [BeanDescriptor] { DescriptorRegistry.subclasses(of: type) }

  /// The stored properties, inherited ones first, or only those the class itself declares.
  public func getProperties(local: Bool = false) -> [PropertyDescriptor] {
    local ? Array(properties.suffix(localCount)) : properties
  }

  /// The property of that name, the class's own before an inherited one.
  ///
  /// - Throws: `.unknownProperty` where there is none.
  public func getProperty(_ name: String) throws -> PropertyDescriptor {
    if let property = propertiesByName[name] { return property }
    throw EnvironmentError(.unknownProperty, "\(type) has no stored property '\(name)'\(hint(for: name))")
  }

  /// The property of that name, or nil.
  public func findProperty(_ name: String) -> PropertyDescriptor? { propertiesByName[name] }

  /// `getProperty(name)`.
  ///
  /// - Throws: `.unknownProperty` where there is none.
  public subscript(name: String) -> PropertyDescriptor { get throws { try getProperty(name) } }

  /// Declares protocols that the class conforms to.
  ///
  /// - Throws: `.invalidDeclaration` for what is no protocol, `.typeMismatch` where the class does not conform; then
  ///   none of them is recorded.
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

  /// What `implements` has recorded.
  var implemented: [Any.Type] { implementedTypes.withLock { $0 } }

  private func hint(for name: String) -> String {
    if propertiesByName["_" + name] != nil {
      return "; '_\(name)' is one: the storage of a property wrapper, or of a computed property"
    }
    let near = propertiesByName.keys.filter { EditDistance.isSmall($0, name) }.sorted()
    return near.isEmpty ? "" : "; did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))?"
  }
}
