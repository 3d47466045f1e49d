extension Environment {
  /// The bean of that type, or of that type and id.
  ///
  /// `T` may be a bean's type, a superclass or a protocol of it, `T?` (nil when there is none), `[T]`, `Provider<T>`,
  /// `Environment`, or the seed of an enclosing factory. The first call starts the environment. From any thread; a bean
  /// that does not exist is built by one thread while others that want it wait. The container publishes the bean safely;
  /// whether several threads may *use* it is the bean's own contract.
  ///
  /// - Parameters:
  ///   - type: what is wanted.
  ///   - id: the bean's id; without one, it is found by its type.
  ///   - file: where it is looked up, as errors say it.
  ///   - line: where in the file.
  /// - Throws: `.unknownBean`, `.ambiguousBean`, `.typeMismatch`, `.scopeNotActive`, `.finished`; what startup throws;
  ///   `.creationFailed` with what a factory threw in `underlying`; `.cyclicDependency` for a circle that only dynamic
  ///   lookups close; `.captiveDependency` where a factory of a longer-lived bean asks.
  @inlinable @inline(__always)
  public func getBean<T>(
    _ type: T.Type, byId id: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) throws -> T {
    do { return try find(type, id) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }

  /// The bean of that type which has that tag; see `Qualified`.
  ///
  /// - Parameters:
  ///   - type: what `getBean(_:byId:)` takes.
  ///   - qualifier: the tag, given to the bean's declaration.
  ///   - file: where it is looked up, as errors say it.
  ///   - line: where in the file.
  /// - Throws: as `getBean(_:byId:)`.
  public func getBean<Tag, T>(
    _ type: T.Type, qualifier: Tag.Type, file: StaticString = #fileID, line: UInt = #line
  ) throws -> T {
    try getBean(Qualified<Tag, T>.self, file: file, line: line).value
  }

  /// Looks a bean up as `getBean(_:byId:)` does; its errors name no call.
  @inlinable @inline(__always)
  func find<T>(_ type: T.Type, _ id: String?) throws -> T {
    let found = if let id { try fetch(ObjectIdentifier(type), id) } else { try fetch(ObjectIdentifier(type)) }
    if let object = found.object { return found.reading.take(object, as: type) }
    return try getOther(type, id)
  }

  @inlinable @inline(never)
  func getOther<T>(_ type: T.Type, _ id: String?) throws -> T {
    try fetch(Parameter.of(type), id: id).take(as: type)
  }

  /// Lends the bean: it is not released before `body` has returned, even if the environment is finished meanwhile.
  ///
  /// A bean of an environment that is no child of a factory is not even retained: threads that use it at the same time
  /// do not slow each other down. In `body`, `shutdown()` begins the end and does not wait for it.
  ///
  /// - Parameters:
  ///   - type: what `getBean` takes.
  ///   - id: the bean's id; without one, it is found by its type.
  ///   - file: where it is looked up, as errors say it.
  ///   - line: where in the file.
  ///   - body: uses the bean, on the calling thread.
  /// - Throws: what `getBean` or `body` throws.
  @inlinable @inline(__always)
  public func withBean<T, R>(
    _ type: T.Type, byId id: String? = nil, file: StaticString = #fileID, line: UInt = #line, _ body: (T) throws -> R
  ) throws -> R {
    if id == nil, T.self is AnyObject.Type, let lent = lend(ObjectIdentifier(type)) {
      defer { lent.end() }
      return try lent.object.with { try body(uncheckedCast($0, to: T.self)) }
    }
    return try withKept(type, id, SourceLocation(file: file, line: line), body)
  }

  /// Keeps the environment from being released, too, while `body` runs.
  @inlinable @inline(never)
  func withKept<T, R>(
    _ type: T.Type, _ id: String?, _ place: SourceLocation, _ body: (T) throws -> R
  ) throws -> R {
    var isFound = false
    do {
      return try whileKept {
        let bean = try find(type, id)
        isFound = true
        return try body(bean)
      }
    } catch { throw isFound ? error : place.met(error) }
  }

  /// All beans of that type, subclasses and conforming types: those of the nearest environment first, then in order of
  /// definition. Beans whose id a nearer environment has taken are left out. Builds those that do not exist.
  ///
  /// - Parameters:
  ///   - type: what the beans have in common.
  ///   - file: where they are looked up, as errors say it.
  ///   - line: where in the file.
  /// - Throws: as `getBean`; an empty array is no error.
  public func getBeansByType<T>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line
  ) throws -> [T] {
    try getBean([T].self, file: file, line: line)
  }

  /// Runs the class-level injections of an object that the container did not build: what its class's bean descriptor
  /// says, and its `@Injected` properties. No post processors, no `postConstruct`, and nobody releases it.
  ///
  /// Starts the environment if need be. From any thread, one at a time for each object.
  ///
  /// - Parameters:
  ///   - object: what is injected into.
  ///   - file: where it is called, as errors say it.
  ///   - line: where in the file.
  /// - Throws: as `getBean` and `getConfigurationValue`; what an `Injection` of your own throws.
  public func inject(_ object: AnyObject, file: StaticString = #fileID, line: UInt = #line) throws {
    do { try using { try injectAll(object) } } catch { throw SourceLocation(file: file, line: line).met(error) }
  }

  /// Whether `finish()` has been called here or above: lookups throw. From any thread.
  public var isFinished: Bool { core.lifecycle.isEnding }

  /// Whether a child environment has been opened and not ended. From any thread.
  public var hasOpenChildren: Bool { existingExtras?.children.isEmpty == false }
}
