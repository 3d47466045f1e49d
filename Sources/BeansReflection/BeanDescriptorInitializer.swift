/// A class that declares how its properties are injected.
public protocol BeanDescriptorInitializer {
  /// Configures a new descriptor. Called once for the class and once for each subclass, superclasses first. Static: no
  /// instance is made to describe a class.
  ///
  /// - Throws: any error: every attempt to get the descriptor throws it.
  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws
}
