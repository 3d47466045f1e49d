extension Environment {
  /// Returns the bean of a type, or of a type and an id.
  ///
  /// `T` may be a bean's type, a superclass or a protocol of it, `T?` (nil if there is no bean), `[T]`, `Provider<T>`,
  /// `Environment`, or the seed of an enclosing factory. The first call starts the environment. Safe to call from any
  /// thread: one thread builds a missing bean while other threads that need the bean wait. The container publishes the
  /// bean safely; whether several threads may *use* it is the bean's own contract.
  ///
  /// - Parameters:
  ///   - type: the type of the result; without it, that of the context: `let cart: Cart = try environment.getBean()`.
  ///   - id: the bean's id; without one, the type alone selects the bean.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.unknownBean`, `.ambiguousBean`, `.typeMismatch`, `.scopeNotActive`, `.finished`; the error of startup;
  ///   `.creationFailed` with the error of a factory in `underlying`; `.cyclicDependency` for a circle that only
  ///   dynamic lookups close; `.captiveDependency` where the factory of a longer-lived bean makes the lookup.
  @inlinable @inline(__always)
  public func getBean<T>(
    _ type: T.Type = T.self, byId id: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) throws -> T {
    do { return try find(type, id) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }

  /// Rejects a lookup whose context determines no type.
  ///
  /// - Throws: nothing, because such a call does not compile.
  @available(
    *, unavailable, message: "the context names no type: 'let cart: Cart = try …getBean()' or getBean(Cart.self)"
  )
  public func getBean(byId id: String? = nil) throws {}

  /// Looks a bean up as `getBean(_:byId:)` does; the errors name no call.
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

  /// Passes the bean to `body`. The bean is not released before `body` has returned, even if the environment is
  /// finished meanwhile.
  ///
  /// A bean of an environment that is not a child of a factory is not even retained: threads that use the bean at the
  /// same time do not slow each other down. Inside `body`, `shutdown()` begins the end and does not wait.
  ///
  /// - Parameters:
  ///   - type: the type of the bean, as for `getBean(_:byId:)`.
  ///   - id: the bean's id; without one, the type alone selects the bean.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - body: uses the bean, on the calling thread.
  /// - Throws: the errors of `getBean` and of `body`.
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

  /// Calls `body` with the bean, and keeps the environment from being released meanwhile.
  @inlinable @inline(never)
  func withKept<T, R>(
    _ type: T.Type, _ id: String?, _ place: SourceLocation, _ body: (T) throws -> R
  ) throws -> R {
    var hasBean = false
    do {
      return try whileKept {
        let bean = try find(type, id)
        hasBean = true
        return try body(bean)
      }
    } catch { throw if hasBean { error } else { place.met(error) } }
  }

  /// Returns all beans of a type, its subclasses and conforming types: those of the nearest environment first, then in
  /// order of definition. A bean whose id is taken by a nearer environment is left out. Builds the missing beans.
  ///
  /// - Parameters:
  ///   - type: the common type of the beans.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: as `getBean`; an empty array is no error.
  public func getBeansByType<T>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line
  ) throws -> [T] {
    try getBean([T].self, file: file, line: line)
  }

  /// Returns the bean of a type, or of a type and id, and creates it first if it does not exist.
  ///
  /// The lookup of beans that are created asynchronously, and of beans that depend on them. Each bean is created once,
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
  public func getBean<T>(
    awaiting type: T.Type, byId id: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> T {
    let location = SourceLocation(file: file, line: line)
    do { return try await AwaitingCall("getBean(awaiting:)", at: location).bean(type, id, in: self) } catch {
      throw location.met(error)
    }
  }

  /// Delivers an event to all beans that listen to events of its type, here and further out, and returns after the
  /// delivery.
  ///
  /// Listeners are beans that conform to `EventListener` and beans declared with `listens`. They are called one after
  /// the other, on the calling thread: first the beans declared here, in order of definition, then the beans of the
  /// parent, and so on outwards. Children receive nothing. Beans of a scope that is not open here are omitted, and so
  /// are beans whose id is shadowed by a nearer environment. A bean that does not exist is built for the event; a
  /// prototype is built anew for each event, and is not kept. A decorated bean receives the event directly, not through
  /// its decorators.
  ///
  /// A listener that is bound to a loop, by the scope of its environment or its own, is called on that loop. It is
  /// called in place if the loop's thread is the calling thread, or if no thread runs the loop. Otherwise the event is
  /// sent to the loop, and this method does not wait: an error of that listener is only logged, and the listener
  /// receives nothing if its scope has ended by then. An environment that ends, or has ended, receives nothing.
  ///
  /// The run-time type of the event decides: listeners to its superclasses or protocols are not called. A listener may
  /// publish, and so may a factory. The first call starts the environment. May be called from any thread. An event
  /// without listeners costs one lookup in a table that startup has made.
  ///
  /// - Parameters:
  ///   - event: the event that the listeners receive.
  ///   - file: the file of the call, which errors name.
  ///   - line: the line of the call.
  /// - Throws: `.listenerFailed`, after all listeners have been called: one failure is thrown as it is, several as one
  ///   error that holds all. A listener that is created asynchronously and does not exist yet is such a failure, around
  ///   `.notReady`. `.finished`, or the error of startup, where lookups in this environment fail, too.
  public func publish<Event: Sendable>(
    _ event: Event, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    if core.lifecycle.isOpen, core.compiledPlan.with({ $0.services.receivers.isEmpty }) { return used() }
    do { try EventDelivery.deliver(event, from: self) } catch {
      throw SourceLocation(file: file, line: line).met(error)
    }
  }

  /// Whether `finish()` has been called here or above, so that lookups throw. Safe to read from any thread.
  public var isFinished: Bool { core.lifecycle.isEnding }

  /// Whether a child environment has been opened and has not ended. Safe to read from any thread.
  package var hasOpenChildren: Bool { existingExtras?.children.isEmpty == false }

  // MARK: reports

  /// Returns the declarations here, in order of definition, and the live environments below, as text for people.
  ///
  /// Contains a line for each bean: its type, id and scope, and whether it is lazy, abstract or primary; with
  /// `traceOrigin`, also the place of its declaration. Then the active profiles that no declaration names, and the
  /// beans, also of factories' children, that several threads share although their type is not statically `Sendable`,
  /// with the places of their declarations; the optional parameters that no bean satisfies; several beans of one type of
  /// which a lookup by type finds none; the beans that run and that no call has started. Safe to call from any thread;
  /// walks the whole tree. The first call after startup compiles the declarations once more, as `graph()` does.
  ///
  /// - Parameter maximumChildren: the number of children shown of each environment, for services with many sessions; the
  ///   text has the number of those left out, on which the cost does not depend.
  public func report(maximumChildren: Int = .max) -> String {
    EnvironmentReport(self).text(maximumChildren: maximumChildren)
  }

  /// Returns counts for each scope: this environment and all that have been opened below it so far, live or not,
  /// anywhere in the tree.
  ///
  /// Walks the live children; for reports. Safe to call from any thread.
  public func statistics() -> [ScopeStatistics] { LiveEnvironments(below: self).statistics }

  /// The beans that this environment's startup built, in order, each with its duration.
  ///
  /// Empty without the startup option `.recordTimes`, and for children of factories. Safe to read from any thread.
  package var startupTimes: [StartupTime] { resources?.record?.times ?? [] }

  /// The duration of the startup, including the beans that `ready()` awaits. Nil without the startup option
  /// `.recordTimes`.
  package var startupDuration: Duration? { resources?.record?.duration }

  /// Finds the faults of the declarations here and for the children of factories, and builds nothing.
  ///
  /// Compiles the declarations as startup does. Values are converted, except texts: their placeholders depend on the
  /// configuration of the running process, and so do bean scopes and beans that inject. For a test, or for a check
  /// while the program is built.
  ///
  /// Before startup, this evaluates the conditions of declarations, and startup evaluates them again. Call this from
  /// the thread that declares, or from any thread once the environment has started. Each call takes as long as the
  /// first half of a startup.
  ///
  /// - Parameters:
  ///   - options: the checks in addition to those of the graph.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: a single fault as itself, several as `.startupFailed` with all of them in `underlying`; `.finished` once
  ///   the environment has been finished.
  public func validate(options: Set<StartupOption> = [], file: StaticString = #fileID, line: UInt = #line) throws {
    do { try check(options: options) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }

  /// Checks the declarations as `validate(options:)` does; the errors name no call.
  package func check(options: Set<StartupOption>) throws {
    try throwFaults(DeclarationCompiler.faults(of: self, options))
  }
}
