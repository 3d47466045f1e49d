import Testing

@testable import Beans

@Suite struct LinkerTests {
  private final class Lower: Sendable {}
  private final class Upper: Sendable {
    init(_ lower: Lower) {}
  }
  private final class Circular: Sendable {
    init(_ other: Circular) {}
  }

  private func isInOrder(_ declare: (Environment) -> [BeanDeclaration]) throws -> Bool {
    let declarations = declare(try Environment())
    let plan = Plan(name: "test", scopeName: nil, parent: nil)
    for declaration in declarations {
      plan.add(
        Definition(
          declaration, type: try #require(declaration.type), constructor: declaration.constructor,
          scopeName: "singleton", templates: []))
    }
    var linker = Linker(expectsScopes: true)
    for definition in plan.definitions { _ = linker.recipe(for: definition, from: plan) }
    linker.linkPending()
    defer { plan.dismantle() }
    #expect(!plan.hasFaults && plan.recipes.count == declarations.count)
    return linker.isInOrder
  }

  @Test func beansAfterThoseTheyNeedAreInOrder() throws {
    #expect(try isInOrder { [$0.bean(Lower.self, factory: Lower.init), $0.bean(Upper.self, factory: Upper.init)] })
  }

  @Test func aBeanBeforeOneItNeedsIsNot() throws {
    #expect(try !isInOrder { [$0.bean(Upper.self, factory: Upper.init), $0.bean(Lower.self, factory: Lower.init)] })
  }

  @Test func aBeanThatNeedsItselfIsNot() throws {
    #expect(try !isInOrder { [$0.bean(Circular.self, factory: Circular.init)] })
  }
}
