import Beans

/// A post processor that passes each bean to a closure, and returns it as it is.
final class Inspector: BeanPostProcessor, Sendable {
  private let look: @Sendable (AnyObject) throws -> Void

  init(_ look: @escaping @Sendable (AnyObject) throws -> Void) { self.look = look }

  func process(_ bean: AnyObject) throws -> AnyObject {
    try look(bean)
    return bean
  }
}
