/// A class that says how its properties are injected.
public protocol BeanDescriptorInitializer {
  /// Called once for the class and once for each subclass, superclasses first, when the descriptor is made.
  ///
  /// What it throws is thrown by every attempt to get the descriptor. Static: no instance is made to describe a class.
  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws
}
