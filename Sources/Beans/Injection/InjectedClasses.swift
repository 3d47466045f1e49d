import CBeansRuntime
import Synchronization

/// Which classes say anything about injections: all others need no descriptor.
enum InjectedClasses {
  /// Costs a look at the names of the class's own properties, once per class and superclass.
  static func contains(_ type: AnyClass, _ known: Conformances) -> Bool {
    if isDescribing(type, known) { return true }
    return TypeRelation.classes(of: type).contains { hasInjectedField($0) }
  }

  // Classes that are described from outside, by whoever asks for their descriptor: usually none.
  private static let described = Locked<Set<ObjectIdentifier>>([])
  private static let areDescribed = Atomic(false)

  /// Notes an injection declared for a property of that class.
  static func note(_ type: AnyClass) {
    if isDescribing(type, Conformances(of: type)) { return }
    let key = ObjectIdentifier(type)
    described.withLock { _ = $0.insert(key) }
    areDescribed.store(true, ordering: .releasing)
  }

  /// Whether an injection has been declared from outside. Costs one load where there are none in the process.
  static func isDescribed(_ type: Any.Type) -> Bool {
    guard areDescribed.load(ordering: .acquiring) else { return false }
    let classes = TypeRelation.classes(of: type).map { ObjectIdentifier($0) }
    return described.withLock { known in classes.contains { known.contains($0) } }
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
