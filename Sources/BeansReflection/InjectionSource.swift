/// The source of the value that a class declares for one of its properties.
package enum InjectionSource: Sendable {
  /// The bean with that id, or the bean of the property's type.
  case bean(id: String?)
  /// The bean whose id the object stores.
  case named(@Sendable (AnyObject) -> String)
  /// A value of the configuration.
  indirect case configuration(ConfigurationRequest)
  /// The value that the bean for objects of this one's class computes.
  case custom(any AnyObject & Sendable)
}

/// The request of a class for a value of the configuration.
package struct ConfigurationRequest: Sendable {
  package let namespace: String
  package let key: String
  /// The value if the configuration has none; converted, too.
  package let defaultValue: (any Sendable)?

  package init(namespace: String, key: String, defaultValue: (any Sendable)?) {
    (self.namespace, self.key, self.defaultValue) = (namespace, key, defaultValue)
  }
}
