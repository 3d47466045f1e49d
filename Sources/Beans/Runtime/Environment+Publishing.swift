extension Environment {
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
    if core.lifecycle.isOpen, core.compiledPlan.with({ $0.receivers.isEmpty }) { return used() }
    do { try deliver(event) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }
}

extension TypedBeanDeclaration {
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
    with { $0.rare.listeners.append(EventHandler(body)) }
  }
}
