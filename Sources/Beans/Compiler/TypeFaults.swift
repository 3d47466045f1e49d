import BeansReflection
import BeansErrors

// The faults of a bean whose declaration, or a template of it, expects another type.

extension BeanDefinition {
  /// Returns the faults of stated types, of properties and of lifecycle callbacks that do not suit the bean's type.
  func typeFaults(of given: [PropertyInjection]) -> [EnvironmentError] {
    if given.isEmpty, spec.with({ $0.options == nil }) { return [] }
    var found: [EnvironmentError] = []
    let spec = spec.object
    for stated in spec.stated where !TypeRelation.isUsable(type, as: stated) {
      found.append(fault(.unmetProtocol, "\(type) does not implement \(stated)"))
    }
    for property in given {
      guard let owner = property.setter?.owner, !TypeRelation.isUsable(type, as: owner) else { continue }
      found.append(fault(.otherTemplateProperty, "\(property.name) is a property of \(owner), not of \(type)"))
    }
    if spec.options == nil { return found }
    let owners = spec.postConstructs.map(\.owner) + spec.onDestroys.map(\.owner) + spec.works.map(\.owner)
    for owner in owners where !TypeRelation.isUsable(type, as: owner) {
      found.append(fault(.otherTemplateCallback, "a lifecycle callback expects a \(owner), not a \(type)"))
    }
    return found
  }

  /// The event handlers: first those of the type, then those of the declaration. A decorator has only those of its
  /// declaration.
  var handlers: [EventHandler] {
    let declared = spec.with { $0.listeners }
    guard traits.contains(.listener), !isDecorator, let listener = type as? any EventListener.Type else {
      return declared
    }
    return [listener.handler] + declared
  }

  /// Returns the faults of event handlers that receive no event, or do not suit the bean's type.
  func faults(of handlers: [EventHandler]) -> [EnvironmentError] {
    var found: [EnvironmentError] = []
    for handler in handlers {
      if TypeRelation.isExistential(handler.event) {
        found.append(
          fault(
            .protocolListener,
            "\(handler.event) is a protocol, and no event is just that: listen to the types that conform to it"))
      }
      if !TypeRelation.isUsable(type, as: handler.owner) {
        found.append(fault(.otherTemplateCallback, "a listener expects a \(handler.owner), not a \(type)"))
      }
    }
    return found
  }
}
