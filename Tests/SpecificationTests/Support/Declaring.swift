import Beans

extension Environment {
  /// Defines several declarations, in order.
  func define(all declarations: BeanDeclaration...) throws {
    for declaration in declarations { try define(declaration) }
  }
}
