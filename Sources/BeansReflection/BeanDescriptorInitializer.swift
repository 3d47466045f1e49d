/// A class that says how its properties are injected.
public protocol BeanDescriptorInitializer {
  /// Called once for the class and once for each subclass, superclasses first, when the descriptor is made. Static: no
  /// instance is made to describe a class.
  ///
  /// - Throws: whatever is wrong: every attempt to get the descriptor throws it.
  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws
}
