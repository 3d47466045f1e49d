extension Environment {
  /// Validates all declarations and builds every bean that is not lazy, awaiting the asynchronous creations.
  ///
  /// Makes the parent ready first, except inside an asynchronous factory of the parent. Beans that do not need each
  /// other are created side by side, each after its dependencies. In a child of a factory, this creates the child's own
  /// asynchronous beans that are not lazy; synchronous beans are built at their first lookup. Several tasks may call
  /// this method. A cancelled task does not affect a creation for which other tasks wait.
  ///
  /// The first failure cancels the other creations and is thrown at once. If no creation is in flight by then, the
  /// beans that were built have already been released, in reverse order. Otherwise their release follows when the
  /// creations have ended; `shutdown()` waits for it. A child of a factory stays open, and the next call tries again.
  ///
  /// - Parameters:
  ///   - options: checks that run before anything is built.
  ///   - file: the file of the call, which errors name.
  ///   - line: the line of the call.
  /// - Throws: the errors of `startup(options:)`. After a bean has failed, every later call throws the same error.
  ///   `CancellationError` changes nothing: the next call continues.
  @discardableResult
  public func ready(
    options: StartupOptions = [], file: StaticString = #fileID, line: UInt = #line
  ) async throws -> Self {
    do { try await makeReady(options: options, file: file, line: line) } catch {
      throw SourceLocation(file: file, line: line).met(error)
    }
    return self
  }

  /// Makes everything ready like `ready(options:)`; its errors name no call.
  ///
  /// - Throws: the errors of `ready(options:)`.
  package func makeReady(
    options: StartupOptions = [], file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    try await AwaitingCall("ready()", at: SourceLocation(file: file, line: line)).makeReady(self, options)
  }

  /// Returns the bean of a type, or of a type and id, and creates it first if it does not exist.
  ///
  /// `getBean` for beans that are created asynchronously, and for beans that depend on them. Each bean is created once,
  /// regardless of the number of tasks that wait. A cancelled task stops waiting; the creation is cancelled when no
  /// task waits for it.
  ///
  /// - Parameters:
  ///   - type: a type that `getBean` accepts.
  ///   - id: the bean's id; without one, the bean is found by its type.
  ///   - file: the file of the lookup, which errors name.
  ///   - line: the line of the lookup.
  /// - Throws: the errors of `getBean`; `CancellationError`; `.cyclicDependency` where a factory awaits a bean that
  ///   needs the factory's own bean.
  public func readyBean<T>(
    _ type: T.Type, byId id: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> T {
    let location = SourceLocation(file: file, line: line)
    do { return try await AwaitingCall("readyBean", at: location).bean(type, id, in: self) } catch {
      throw location.met(error)
    }
  }

  /// Returns the bean of a type that has a tag, and creates it first if it does not exist.
  ///
  /// - Parameters:
  ///   - type: a type that `getBean` accepts.
  ///   - qualifier: the tag of the bean's declaration.
  ///   - file: the file of the lookup, which errors name.
  ///   - line: the line of the lookup.
  /// - Throws: the errors of `readyBean(_:byId:)`.
  public func readyBean<Tag, T>(
    _ type: T.Type, qualifier: Tag.Type, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> T {
    try await readyBean(Qualified<Tag, T>.self, file: file, line: line).value
  }

  /// Returns the bean of the type that the context of the call determines, and creates it first if it does not exist.
  ///
  /// - Parameters:
  ///   - id: the bean's id; without one, the bean is found by its type.
  ///   - file: the file of the lookup, which errors name.
  ///   - line: the line of the lookup.
  /// - Throws: the errors of `readyBean(_:byId:)`.
  public func readyBean<T>(
    byId id: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> T {
    try await readyBean(T.self, byId: id, file: file, line: line)
  }
}
