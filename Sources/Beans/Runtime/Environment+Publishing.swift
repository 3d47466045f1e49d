extension Environment {
  /// Hands an event to all beans that listen to events of its type, here and further out, and returns when they have it.
  ///
  /// Listeners are those that conform to `EventListener` and those declared with `listens`. They are called one after the
  /// other, on the calling thread: what is declared here first, in order of definition, then what its parent declares, and
  /// so on outwards; children hear nothing. Left out are beans of a scope that is not open here, and beans whose id a
  /// nearer environment has taken. A bean that does not exist is built for the event; a prototype is built anew for each,
  /// and is not kept. A decorated bean receives by itself.
  ///
  /// A listener that is bound to a loop, by the scope of its environment or its own, is called on that loop: in place where
  /// that is the calling thread, or no thread runs the loop. Otherwise it is sent there, and this does not wait: what it
  /// throws is logged only, and it receives nothing if its scope has ended by then. An environment that ends, or has
  /// ended, receives nothing.
  ///
  /// The type of the event itself decides, as it is at run time: listeners to its superclasses or protocols are not meant. A
  /// listener may publish, and so may a factory. The first call starts the environment. From any thread. Costs one look
  /// into a table that startup has made where nobody listens to the type.
  ///
  /// - Parameters:
  ///   - event: what the listeners are handed.
  ///   - file: where it is published, as errors say it.
  ///   - line: where in the file.
  /// - Throws: `.listenerFailed`, when all have been called: one failure as it is, several as one error that holds all. A
  ///   listener that is created asynchronously and is not there yet is such a failure, around `.notReady`. `.finished`, or
  ///   what startup throws, where nothing can be looked up here either.
  public func publish<Event: Sendable>(
    _ event: Event, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    if core.lifecycle.isOpen, core.compiledPlan.with({ $0.receivers.isEmpty }) { return used() }
    do { try deliver(event) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }
}

extension TypedBeanDeclaration {
  /// Has the bean receive all events of exactly that type; see `Environment.publish`.
  ///
  /// A bean may listen to several types. It is called in the order in which it says so, first by its `EventListener`
  /// conformance if it has one. A declaration that says nothing of events has the listeners of its template.
  ///
  /// - Parameters:
  ///   - event: the type, which is no protocol; the closure says it as well.
  ///   - body: takes the bean and the event, on the thread that publishes or on the loop that the bean is bound to.
  @discardableResult
  public func listens<Event: Sendable>(
    to event: Event.Type = Event.self, _ body: @escaping @Sendable (Instance, Event) throws -> Void
  ) -> Self {
    set { $0.change { $0.listeners.append(EventHandler(body)) } }
  }
}
