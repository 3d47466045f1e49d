import BeansErrors
@_spi(BeansPackage) import BeansSupport

/// An instance that its taker gives back.
protocol OwnedInstance: AnyObject, Sendable {
  /// nil once it has been released.
  var object: AnyObject? { get }
  /// Does nothing when it has been released.
  func release() throws
  func release() async throws
}

/// A bean that belongs to whoever takes it, who gives it back when it is no longer needed.
///
/// As a parameter or a property: `Owned<T>`, `[Owned<T>]`, `Owned<Qualified<Tag, T>>`, `Provider<Owned<T>>`, one bean for each
/// call of `get()`. `T` is a prototype; anything else is kept, and released, by its environment: a fault at startup. What has
/// not been given back when the taker's environment ends is released there, in reverse order of creation.
///
/// With the bean, all that was made for it is released, last made first: the inner beans of its decorators, and the prototypes
/// that these took while they were built.
public struct Owned<T>: Sendable {
  private let bean: any OwnedInstance

  init(_ bean: any OwnedInstance) { self.bean = bean }

  /// A bean by hand, for tests of types that take one.
  ///
  /// - Parameters:
  ///   - bean: what `get()` answers.
  ///   - release: what `release()` does.
  public init(_ bean: T, release: @escaping @Sendable () throws -> Void = {}) {
    self.bean = HandmadeInstance(ValueBox(bean), release)
  }

  /// The bean. From any thread.
  ///
  /// - Throws: `.finished` once it has been released.
  public func get(file: StaticString = #fileID, line: UInt = #line) throws -> T {
    if let object = bean.object {
      if let value = Box.read(object, as: T.self) { return value }
      // What is more than the bean is put around it each time.
      let box = Parameter.of(T.self).box([Box.open(object)])
      if let value = box.flatMap({ Box.read($0, as: T.self) }) { return value }
    }
    throw EnvironmentError(
      cause: .releasedByOwner, "the \(T.self) has been released", path: ["Owned<\(T.self)>"],
      origin: SourceLocation(file: file, line: line).origin)
  }

  /// Gives the bean back: `preDestroy`, then `.onDestroy`, on the calling thread. Whoever comes second does nothing.
  ///
  /// - Throws: `.destructionFailed`, after all of that has run. A bean whose release has to be awaited stays as it is: use
  ///   `await release()`.
  public func release() throws { try bean.release() }

  /// Gives the bean back, and awaits a release that has to be awaited.
  ///
  /// - Throws: `.destructionFailed`, after all of that has run.
  public func release() async throws { try await bean.release() }
}

extension Owned: ParameterType {
  static var parameter: Parameter {
    let inner = Parameter.of(T.self)
    let isOfBean = if case .one = inner.kind { inner.qualifier != nil || !Parameter.isWrapper(T.self) } else { false }
    return Parameter(
      Owned<T>.self, element: inner.element,
      isOfBean ? .owned(inner) : .invalid(.noBeanInside, "\(T.self) is not a bean's type, so that nobody can own one"),
      qualifier: inner.qualifier,
      makeOwned: { ValueBox(Owned<T>($0)) })
  }
}

/// What a test has made by hand.
private final class HandmadeInstance: OwnedInstance {
  private let state: Locked<Carried<AnyObject?>>
  private let end: @Sendable () throws -> Void

  init(_ object: AnyObject, _ end: @escaping @Sendable () throws -> Void) {
    state = Locked(Carried(value: object))
    self.end = end
  }

  var object: AnyObject? { state.withLock { $0 }.value }

  func release() throws { try endOnce() }
  func release() async throws { try endOnce() }

  private func endOnce() throws {
    let taken = state.withLock { state in
      defer { state.value = nil }
      return state
    }
    if taken.value != nil { try end() }
  }
}
