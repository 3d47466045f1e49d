import TestSupport
import Testing

@testable import Beans

@Suite struct FactoryProductTests {
  @Test func whatCanNeverBeMadeIsKnownFromTheTypes() {
    #expect(fault(Making<Tracked>.self, Tracked.self) == nil)
    #expect(fault(Making<Tracked>.self, (any DisposableBean).self) == nil)
    #expect(fault(Making<Base>.self, Derived.self) == nil)
    #expect(fault(Making<Derived>.self, Base.self) == nil)
    #expect(fault(Making<AnyObject>.self, Base.self) == nil)
    #expect(fault(Making<Int?>.self, Int.self) == nil)
    // A subclass may conform.
    #expect(fault(Making<Base>.self, (any DisposableBean).self) == nil)
    #expect(fault(Making<Int>.self, (any DisposableBean).self) != nil)
    #expect(fault(Making<Base>.self, Tracked.self) != nil)
    #expect(fault(Making<Int>.self, String.self) != nil)
    #expect(fault(Making<Int>.self, Int?.self) != nil)
  }

  @Test func anOptionalProductMayBeNil() throws {
    let environment = try Environment()
    try environment.define(environment.bean(Making<Int?>(product: nil)).target(Int.self).lazy())
    #expect(faults(of: environment).isEmpty)
    #expect(throws: EnvironmentError(.typeMismatch, "")) { try environment.getBean(Int.self) }
  }

  private func fault(_ factory: any FactoryBean.Type, _ target: Any.Type) -> String? {
    FactoryProduct(factory: factory, target: target, origin: .init(file: "", line: 1)).fault
  }

  private class Base {}
  private final class Derived: Base {}
  private struct Making<Product>: FactoryBean {
    let product: Product
    func create() -> Product { product }
  }
}
