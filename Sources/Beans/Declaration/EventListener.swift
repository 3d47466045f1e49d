/// A bean that receives the events of one type; see `Environment.publish`.
///
///     final class Mailer: EventListener, Sendable {
///       func receive(_ event: OrderPlaced) throws { … }
///     }
///
/// The declared type of the bean has to conform. For other beans, and for further types of events, use
/// `TypedBeanDeclaration.listens`. Conformances of a seed or of the product of an assisted factory have no effect.
public protocol EventListener: SendableMetatype {
  /// The type of the events: exactly this type, which is no protocol.
  associatedtype Event: Sendable
  /// Receives an event. The publisher calls this once for each event, on its own thread or on the loop to which the
  /// bean is bound. Calls may overlap where several threads share the bean.
  ///
  /// - Throws: any error: `publish` reports it to its caller, and the other listeners still run.
  func receive(_ event: Event) throws
}

/// The code that handles the events of one type for one bean.
struct EventHandler: Sendable {
  let event: Any.Type
  /// The type of the beans that the handler accepts.
  let owner: Any.Type
  /// Handles an event. Takes a bean that is an `owner`, as startup has checked, and an event of the type.
  let receive: @Sendable (AnyObject, Any) throws -> Void
  /// The handler of events of exactly the type `event` for an object of the class `owner`, a `TypedEventHandler`; nil
  /// where `owner` is no class.
  let typed: (any AnyObject & Sendable)?

  init<Instance, Event: Sendable>(_ body: @escaping @Sendable (Instance, Event) throws -> Void) {
    (event, owner) = (Event.self, Instance.self)
    typed =
      Instance.self is AnyObject.Type
      ? TypedEventHandler<Event> { try body(uncheckedCast($0, to: Instance.self), $1) } : nil
    receive = { object, event in
      guard let event = event as? Event else { throw BeanCallback.mismatch(object, Instance.self) }
      try body(BeanCallback.read(object), event)
    }
  }
}

extension EventListener {
  /// The handler of beans that are listeners themselves.
  static var handler: EventHandler { EventHandler { (bean: Self, event: Event) in try bean.receive(event) } }
}

/// The code that handles the events of one type for an object of a class, without a cast.
final class TypedEventHandler<Event>: Sendable {
  let receive: @Sendable (AnyObject, Event) throws -> Void

  init(_ receive: @escaping @Sendable (AnyObject, Event) throws -> Void) { self.receive = receive }
}

/// One receiver of the events of a type, for the environments of a plan.
struct EventReceiver: Sendable {
  /// The distance to the environment of the bean, in steps outwards; `number` is the bean's recipe there.
  let hops: Int32
  let number: Int32
  /// The index of the handler among those of the bean.
  let handler: Int
}
