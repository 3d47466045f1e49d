@_spi(BeansPackage) import BeansErrors
import Synchronization

/// The classes whose injections are declared from outside, by users of their descriptors: usually none.
package enum DescribedClasses {
  private static let described = Locked<Set<ObjectIdentifier>>([])
  private static let areDescribed = Atomic(false)
  private static let describing = ProtocolList([(any BeanDescriptorInitializer).self])

  /// Records an injection that is declared for a property of that class.
  static func note(_ type: AnyClass) {
    if isDescribing(type) { return }
    let key = ObjectIdentifier(type)
    described.withLock { _ = $0.insert(key) }
    areDescribed.store(true, ordering: .releasing)
  }

  /// Whether an injection has been declared from outside. Costs one load if the process has none.
  package static func contains(_ type: Any.Type) -> Bool {
    guard areDescribed.load(ordering: .acquiring) else { return false }
    let classes = ClassHierarchy.classes(of: type).map { ObjectIdentifier($0) }
    return described.withLock { known in classes.contains { known.contains($0) } }
  }

  private static func isDescribing(_ type: AnyClass) -> Bool {
    let known = describing.conformances(of: type)
    return known.certain != 0 || known.possible != 0 && type is any BeanDescriptorInitializer.Type
  }
}
