public import Beans

extension BeanDeclaration {
  /// Sets the stored property of that name to the bean of its type, or to the one with the injection's id.
  ///
  /// - Parameters:
  ///   - name: the name of the property, private and inherited ones included.
  ///   - inject: requests a bean, by the property's type or by id.
  @discardableResult public func property(_ name: String, inject: InjectBean) -> Self {
    property(name, .inject(inject))
  }

  /// Builds the bean of that type first, as `requires(_:)` does.
  ///
  /// - Parameter type: the type of the bean, which has to be declared.
  @discardableResult public func requires(class type: Any.Type) -> Self { requires(type) }
}

extension TypedBeanDeclaration {
  /// Sets a property to the bean of its type, or to the one with the injection's id.
  @inlinable @inline(__always) @discardableResult
  public func property<V>(_ path: ReferenceWritableKeyPath<Instance, V>, inject: InjectBean) -> Self {
    property(path, .inject(inject))
  }
}

extension BeanValue {
  /// Returns the bean of the type, or the one with the injection's id.
  public static func inject(_ inject: InjectBean) -> BeanValue { inject.id.map { .reference($0) } ?? .byType }
}
