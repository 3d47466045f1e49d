/// A declaration that has the bean's type, so that the compiler checks properties and callbacks.
public final class TypedBeanDeclaration<Instance>: BeanDeclaration {
  /// Sets a property to a value each time a bean is built.
  @inlinable @inline(__always) @discardableResult
  public func property<V>(_ path: ReferenceWritableKeyPath<Instance, V>, value: V) -> Self {
    inject(path, .value(value))
  }

  /// Sets a property to the bean with an id, or to text with its placeholders replaced. None or both of them are a fault at
  /// startup.
  ///
  /// `${key}`, `${namespace:key}` and `${key=default}` are placeholders of configuration values; `$${` is a literal `${`.
  ///
  /// - Parameters:
  ///   - path: the property.
  ///   - id: the id of a bean.
  ///   - text: text whose placeholders are replaced, converted to the property's type. Startup does both, with the
  ///     configuration of the environment that declares the bean.
  @inlinable @inline(__always) @discardableResult
  public func property<V>(
    _ path: ReferenceWritableKeyPath<Instance, V>, ref id: String? = nil, resolve text: String? = nil
  ) -> Self {
    set(path, ref: id, resolve: text, PropertySetter(path))
  }

  /// Sets a property to a bean declared in place, which is a bean of its own in the same environment.
  @inlinable @inline(__always) @discardableResult
  public func property<V, Declaration: BeanDeclaration>(
    _ path: ReferenceWritableKeyPath<Instance, V>, bean: Declaration
  ) -> Self {
    inject(path, .bean(bean))
  }

  /// Sets a property to a bean declared in place whose type the compiler knows to be `Sendable`. The compiler chooses
  /// this form for such types.
  @inlinable @inline(__always) @discardableResult
  public func property<V, T: Sendable>(
    _ path: ReferenceWritableKeyPath<Instance, V>, bean: TypedBeanDeclaration<T>
  ) -> Self {
    inject(path, .bean(bean.ofSendableType()))
  }

  /// Sets a property to the value that `value` describes, each time a bean is built.
  @inlinable @inline(__always) @discardableResult
  public func property<V>(_ path: ReferenceWritableKeyPath<Instance, V>, _ value: BeanValue) -> Self {
    inject(path, value)
  }

  /// Adds a callback on the final object after `Bean.postConstruct()`, on the thread that builds it. Throwing fails the
  /// build.
  @inlinable @discardableResult
  public func postConstruct(_ body: @escaping @Sendable (Instance) throws -> Void) -> Self {
    add(postConstruct: BeanCallback { (bean: Instance, _) in try body(bean) })
  }

  /// Adds a callback that runs once for each instance when its scope ends, after `DisposableBean.preDestroy()`.
  /// Prototypes are not tracked.
  @inlinable @discardableResult
  public func onDestroy(_ body: @escaping @Sendable (Instance) throws -> Void) -> Self {
    add(onDestroy: BeanCallback { (bean: Instance, _) in try body(bean) })
  }

  /// Adds a callback with the outcome of the environment that releases the bean. It runs once for each instance when its
  /// scope ends, after `DisposableBean.preDestroy()`. Prototypes are not tracked.
  @inlinable @discardableResult
  public func onDestroy(_ body: @escaping @Sendable (Instance, ScopeOutcome) throws -> Void) -> Self {
    add(onDestroy: BeanCallback(body))
  }

  /// Adds an asynchronous callback that runs once for each instance when its scope ends, after
  /// `DisposableBean.preDestroy()` or `AsyncDisposableBean.preDestroy()`. Prototypes are not tracked.
  ///
  /// The end awaits the callback in its place of the order: the beans that this bean takes are released after it has
  /// returned. An end that cannot await hands the release to a task, and names the bean in its error, as for an
  /// `AsyncDisposableBean`.
  @inlinable @discardableResult
  public func onDestroy(_ body: @escaping @Sendable (Instance) async throws -> Void) -> Self {
    add(onDestroy: BeanCallback(async: { (bean: Instance, _) in try await body(bean) }))
  }

  /// Adds an asynchronous callback with the outcome of the environment that releases the bean. The end awaits it in its
  /// place of the order. Prototypes are not tracked.
  @inlinable @discardableResult
  public func onDestroy(_ body: @escaping @Sendable (Instance, ScopeOutcome) async throws -> Void) -> Self {
    add(onDestroy: BeanCallback(async: body))
  }

  /// Registers the bean for all events of exactly one type; see `Environment.publish`.
  ///
  /// A bean may listen to several types. Its listeners are called in the order of their declaration, after its
  /// `EventListener` conformance if it has one. A declaration without listeners inherits the listeners of its template.
  ///
  /// - Parameters:
  ///   - event: the type, which may not be a protocol; the closure's parameter implies it.
  ///   - body: takes the bean and the event, on the thread that publishes or on the loop to which the bean is bound.
  @discardableResult
  public func listens<Event: Sendable>(
    to event: Event.Type = Event.self, _ body: @escaping @Sendable (Instance, Event) throws -> Void
  ) -> Self {
    change { $0.listeners.append(EventHandler(body)) }
  }

  /// Sets the options that a user's closure sets.
  @inlinable @inline(__always)
  func with(_ options: (TypedBeanDeclaration) -> Void) -> Self {
    options(self)
    return self
  }

  @usableFromInline
  func decorating() -> Self { with { $0.isDecorator = true } }

  @inlinable @inline(__always)
  func inject<V>(_ path: ReferenceWritableKeyPath<Instance, V>, _ value: BeanValue) -> Self {
    set(path, value, PropertySetter(path))
  }
}

extension BeanDeclaration {
  /// Passes a bean declared in place to the factory's parameter at `index` (from 0).
  @discardableResult public func argument<Declaration: BeanDeclaration>(_ index: Int, bean: Declaration) -> Self {
    argument(index, .bean(bean))
  }

  /// Passes a bean declared in place to the factory's parameter at `index` (from 0). The compiler knows its type to be
  /// `Sendable` and chooses this form for such types.
  @discardableResult public func argument<T: Sendable>(_ index: Int, bean: TypedBeanDeclaration<T>) -> Self {
    argument(index, .bean(bean.ofSendableType()))
  }

  /// Sets the stored property of that name to a bean declared in place whose type the compiler does not know to be
  /// `Sendable`.
  @discardableResult public func property<T>(_ name: String, bean: TypedBeanDeclaration<T>) -> Self {
    property(name, .bean(bean))
  }

  /// Sets the stored property of that name to a bean declared in place whose type the compiler knows to be `Sendable`.
  /// The compiler chooses this form for such types.
  @discardableResult public func property<T: Sendable>(_ name: String, bean: TypedBeanDeclaration<T>) -> Self {
    property(name, .bean(bean.ofSendableType()))
  }
}
