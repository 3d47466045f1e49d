import Beans

// The types of the proposal, "[RFC] Assisted Injection Feature", that belong to its library, on top of an environment:
// a module declares, and the terminating `to` of a binding defines at once. So the listings can be used as written.

/// The environment of a module. `Cleanse.Module` takes an `UnscopedBinder`; here it is an environment that has not
/// started.
struct UnscopedBinder {
  let environment: Environment

  func bind<T>(_ type: T.Type) -> Binding<T> { Binding(environment: environment) }

  func bindFactory<Element>(_ type: Element.Type) -> FactoryBinding<Element, EmptySeed<Element>> {
    FactoryBinding(environment: environment, builder: environment.bindFactory(type))
  }
}

/// `Cleanse.Module`.
enum Cleanse {
  protocol Module {
    static func configure(binder: UnscopedBinder) throws
  }
}

extension Environment {
  /// `binder.include(module:)`.
  func include(_ module: any Cleanse.Module.Type) throws {
    try module.configure(binder: UnscopedBinder(environment: self))
  }
}

struct Binding<T> {
  let environment: Environment

  func to<each D>(factory: @escaping @Sendable (repeat each D) throws -> T) throws {
    try environment.define(environment.bean(T.self, factory: factory))
  }
}

struct FactoryBinding<Element, Tag: AssistedFactory> where Tag.Element == Element {
  let environment: Environment
  let builder: AssistedBuilder<Element, Tag>

  func with<Other: AssistedFactory>(
    _ tag: Other.Type
  ) -> FactoryBinding<Element, Other> where Other.Element == Element {
    FactoryBinding<Element, Other>(environment: environment, builder: builder.with(tag))
  }

  func to<each D>(factory: @escaping @Sendable (repeat each D) throws -> Element) throws {
    try environment.define(builder.to(factory: factory))
  }
}
