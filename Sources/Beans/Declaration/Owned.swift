import BeansErrors

/// An instance that its taker releases.
protocol OwnedInstance: AnyObject, Sendable {
  /// The object; nil once it has been released.
  var object: AnyObject? { get }
  /// Releases the object; does nothing if it has been released.
  func release() throws
  func release() async throws
}

/// A bean that belongs to its taker, which releases it when it is no longer needed.
///
/// Use it as a parameter or a property: `Owned<T>`, `[Owned<T>]`, `Owned<Qualified<Tag, T>>`, `Provider<Owned<T>>`, one
/// bean for each call of `get()`. `T` is a prototype; the environment keeps and releases every other bean, so that
/// `Owned` of such a bean is a fault at startup. When the taker's environment ends, it releases the beans that have not
/// been released before, in reverse order of creation.
///
/// The release of the bean also releases all objects that were made for it, last made first: the inner beans of its
/// decorators, the prototypes that these took while they were built, and beans that these own in turn, at any depth. A
/// bean that an owned bean gets later, from a `Provider<Owned<T>>` or a `Lazy<Owned<T>>`, lives until it is released by
/// its taker or by the end of the environment.
public struct Owned<T>: Sendable {
  private let bean: any OwnedInstance

  init(_ bean: any OwnedInstance) { self.bean = bean }

  /// Wraps a bean by hand, for tests of types that take one.
  ///
  /// - Parameters:
  ///   - bean: the result of `get()`.
  ///   - release: the code that `release()` runs.
  public init(_ bean: T, release: @escaping @Sendable () throws -> Void = {}) {
    self.bean = HandmadeInstance(ValueBox(bean), release)
  }

  /// Returns the bean. Callable from any thread.
  ///
  /// - Throws: `.finished` once it has been released.
  public func get(file: StaticString = #fileID, line: UInt = #line) throws -> T {
    if let object = bean.object {
      if let value = Box.read(object, as: T.self) { return value }
      // A wrapper that is more than the bean is put around it each time.
      let box = Parameter.of(T.self).box(.beans([Box.open(object)]))
      if let value = box.flatMap({ Box.read($0, as: T.self) }) { return value }
    }
    throw EnvironmentError(
      cause: .releasedByOwner, "the \(T.self) has been released", path: ["Owned<\(T.self)>"],
      origin: SourceLocation(file: file, line: line).origin)
  }

  /// Releases the bean: `preDestroy`, then `.onDestroy`, on the calling thread. Only the first call has an effect.
  ///
  /// - Throws: `.destructionFailed`, after every callback has run. A bean whose release has to be awaited stays
  ///   unchanged: use `await release()`.
  public func release() throws { try bean.release() }

  /// Releases the bean, and awaits a release that is asynchronous.
  ///
  /// - Throws: `.destructionFailed`, after every callback has run.
  public func release() async throws { try await bean.release() }
}

extension Owned: ParameterType {
  static var parameter: Parameter {
    let inner = Parameter.of(T.self)
    let isOfBean = if case .one = inner.kind { inner.qualifier != nil || !Parameter.isWrapper(T.self) } else { false }
    return Parameter(
      Owned<T>.self, element: inner.element,
      isOfBean ? .owned(inner) : .invalid(.noBeanInside, "\(T.self) is not a bean's type, so it cannot be owned"),
      qualifier: inner.qualifier,
      wrap: { if case .owned(let bean) = $0 { ValueBox(Owned<T>(bean)) } else { nil } })
  }
}

/// An instance that a test has made by hand.
private final class HandmadeInstance: OwnedInstance {
  private let cell: ObjectCell
  private let end: @Sendable () throws -> Void

  init(_ object: AnyObject, _ end: @escaping @Sendable () throws -> Void) {
    cell = ObjectCell(object)
    self.end = end
  }

  var object: AnyObject? { cell.object }

  func release() throws {
    guard let object = cell.take() else { return }
    defer { object.release() }
    try end()
  }
}
