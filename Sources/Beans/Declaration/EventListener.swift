/// A bean that receives the events of one type; see `Environment.publish`.
///
///     final class Mailer: EventListener, Sendable {
///       func receive(_ event: OrderPlaced) throws { … }
///     }
///
/// The type that a bean is declared with has to conform; for others, and for further types of events, there is
/// `TypedBeanDeclaration.listens`. What a seed or the product of an assisted factory conforms to does not matter.
public protocol EventListener: SendableMetatype {
  /// What it receives: events of exactly this type, which is no protocol.
  associatedtype Event: Sendable
  /// Called once for each event, on the thread that publishes it or on the loop that the bean is bound to; possibly
  /// several at once where the bean belongs to several threads.
  ///
  /// - Throws: whatever failed: it is reported to whoever publishes, and stops no other listener.
  func receive(_ event: Event) throws
}

/// What one bean does with the events of one type.
struct EventHandler: Sendable {
  let event: Any.Type
  /// The type of beans that it is made for.
  let owner: Any.Type
  /// Takes a bean that is an `owner`, which startup has checked, and an event of the type.
  let receive: @Sendable (AnyObject, Any) throws -> Void

  init<Instance, Event: Sendable>(_ body: @escaping @Sendable (Instance, Event) throws -> Void) {
    (event, owner) = (Event.self, Instance.self)
    receive = { object, event in
      guard let bean = Box.read(object, as: Instance.self), let event = event as? Event else {
        throw EnvironmentError(.typeMismatch, "\(type(of: Box.open(object))) is not a \(Instance.self)")
      }
      try body(bean, event)
    }
  }

  /// What beans of a type do by themselves; nil for a type that is no `EventListener`.
  init?(of type: Any.Type) {
    func open<Listener: EventListener>(_ type: Listener.Type) -> EventHandler {
      EventHandler { (bean: Listener, event: Listener.Event) in try bean.receive(event) }
    }
    guard let type = type as? any EventListener.Type else { return nil }
    self = open(type)
  }
}

/// One of those who receive the events of a type in the environments of a plan.
struct EventReceiver: Sendable {
  /// How far out the environment is that the bean belongs to, and its recipe there.
  let hops: Int32
  let number: Int32
  /// Which of the bean's handlers.
  let handler: Int
}
