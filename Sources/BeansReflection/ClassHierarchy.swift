/// The superclasses of classes.
package enum ClassHierarchy {
  /// Returns `type` and its superclasses, nearest first; empty for a type that is not a class.
  package static func classes(of type: Any.Type) -> [AnyClass] {
    var classes: [AnyClass] = []
    var next: AnyClass? = type as? AnyClass
    while let current = next {
      classes.append(current)
      next = _getSuperclass(current)
    }
    return classes
  }

  static func isSubclass(_ type: AnyClass, of wanted: AnyClass) -> Bool {
    var next: AnyClass? = type
    while let current = next {
      if current == wanted { return true }
      next = _getSuperclass(current)
    }
    return false
  }
}
