import BeansErrors

extension BeanDescriptor {
  /// Returns the descriptor of a class.
  ///
  /// - Throws: `.typeMismatch` for other types; the error that an initializer throws.
  public static func forType(_ type: Any.Type) throws -> BeanDescriptor {
    guard let type = type as? AnyClass else {
      throw EnvironmentError(.typeMismatch, "\(type) is no class: only classes have bean descriptors")
    }
    return try forClass(type)
  }

  /// Returns the descriptor of a class.
  ///
  /// - Throws: the error that an initializer of the class or of its superclasses throws.
  public static func forClass(_ type: AnyClass) throws -> BeanDescriptor { try DescriptorRegistry.descriptor(of: type) }

  /// Returns the descriptor of a class by name: `Module.Class`, `Module.Outer.Inner`, or the end of the name if it is
  /// unique.
  ///
  /// Searches all types of the loaded images: startup only.
  ///
  /// - Throws: `.unknownClass` if no class or several classes have the name, and for generic classes; the error that an
  ///   initializer throws.
  public static func forClass(_ name: String) throws -> BeanDescriptor { try forClass(ClassName.find(name)) }

  /// Returns the descriptor of the dynamic class of an object.
  ///
  /// - Throws: the error that an initializer of the class or of its superclasses throws.
  public static func forInstance(_ instance: AnyObject) throws -> BeanDescriptor {
    try forClass(Swift.type(of: instance))
  }

  /// Returns the direct subclasses among the classes described so far.
  public func getSubBeans() -> [BeanDescriptor] { DescriptorRegistry.subclasses(of: getBeanClass()) }
}
