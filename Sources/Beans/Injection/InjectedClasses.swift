import CBeansRuntime

/// Which classes say anything about injections: all others need no descriptor.
enum InjectedClasses {
  /// Costs a look at the names of the class's own properties, once per class and superclass.
  static func contains(_ type: AnyClass, _ known: Conformances) -> Bool {
    if isDescribing(type, known) { return true }
    return TypeRelation.classes(of: type).contains { hasInjectedField($0) }
  }

  private static func isDescribing(_ type: AnyClass, _ known: Conformances) -> Bool {
    known.contains(.describing, type is any BeanDescriptorInitializer.Type)
  }

  private static func hasInjectedField(_ type: AnyClass) -> Bool {
    // A property wrapper's storage begins with an underscore: only then is the type worth asking for.
    guard beans_has_underscored_field(unsafeBitCast(type, to: UnsafeRawPointer.self)) else { return false }
    return StoredField.declared(by: type).contains { $0.type is any InjectedField.Type }
  }
}
