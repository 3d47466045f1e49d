public import BeansReflection

extension PropertyDescriptor {
  /// Declares the injection of the property; replaces an earlier one. Callable from any thread.
  ///
  /// Environments read the injection at startup. The value is stored as `set(_:value:)` stores it: without the
  /// property's observers.
  ///
  /// - Parameter inject: the injection: `InjectBean`, `InjectConfigurationValue`, or one of your own.
  @discardableResult public func inject(_ inject: Inject) -> Self {
    declare(inject.source)
    return self
  }

  /// Declares an injection of the bean of the property's type.
  @discardableResult public func autowire() -> Self { inject(InjectBean()) }
}
