import Beans
import Testing

// The listings of "[RFC] Assisted Injection Feature", in order. `Cleanse.Module` and its binder are in
// Support/Cleanse.swift, UIKit in Support/UIKit.swift.
//
// Changed everywhere: `configure` throws and each binding is marked `try`, because defining and building throw here;
// for the same reason `build` is called with `try`. Listings that only show how the proposal implements `Factory`,
// `Assisted`, the builders and their arities are not repeated: Beans has those types.

final class CustomerService: Initializable { init() {} }

// Background, first listing: the detail view controller of a customer.

class CustomerDetailViewController: UIViewController {
  // Not private, so that the tests can look.
  let customerID: String
  let customerService: CustomerService

  init(customerID: String, customerService: CustomerService) {
    self.customerID = customerID
    self.customerService = customerService
  }
}

// Background, second listing: the factory by hand, and its module.

class CustomDetailViewControllerFactory {
  let customerService: CustomerService

  // The listing leaves the initializer out; a class has none of its own.
  init(customerService: CustomerService) { self.customerService = customerService }

  // seed is just a String representing `customerID`
  func build(_ seed: String) -> CustomerDetailViewController {
    return CustomerDetailViewController(customerID: seed, customerService: customerService)
  }
}

extension CustomDetailViewControllerFactory {
  struct Module: Cleanse.Module {
    /// Declares the binding.
    public static func configure(binder: UnscopedBinder) throws {
      try binder
        .bind(CustomDetailViewControllerFactory.self)
        .to(factory: CustomDetailViewControllerFactory.init)
    }
  }
}

// Proposed solution, first listing: the tag and the binding.

extension CustomerDetailViewController {
  struct AssistedSeed: AssistedFactory {
    typealias Seed = String
    typealias Element = CustomerDetailViewController
  }

  struct Module: Cleanse.Module {
    /// Declares the binding.
    public static func configure(binder: UnscopedBinder) throws {
      try binder
        .bindFactory(CustomerDetailViewController.self)
        .with(AssistedSeed.self)
        .to { (seed: Assisted<String>, customerService: CustomerService) in
          return CustomerDetailViewController(
            customerID: seed.get(),
            customerService: customerService)
        }
    }
  }
}

// Proposed solution, second listing: the list that uses the factory.

class CustomerListViewController: UIViewController {
  let customerDetailFactory: Factory<CustomerDetailViewController.AssistedSeed>

  // Left out in the listing.
  init(customerDetailFactory: Factory<CustomerDetailViewController.AssistedSeed>) {
    self.customerDetailFactory = customerDetailFactory
  }

  func tappedCustomer(with customerID: String) throws {
    let customerDetailViewController = try customerDetailFactory.build(customerID)
    self.present(customerDetailViewController, animated: true)
  }
}

// Detailed design: `protocol AssistedFactory: Tag` is `AssistedFactory: FactoryTag` here, because `Tag` would hide
// `Testing.Tag` in every test.

private func element<Tag: FactoryTag>(of tag: Tag.Type) -> ObjectIdentifier { ObjectIdentifier(Tag.Element.self) }

// The coffee machine. Its listings show forms that the proposal decided against, `with` the raw types of the seed and a
// `Factory<CoffeeMachine, (Bean, CoffeeHandle, Int)>`: here they have the tag that it decided for. `Bean` is a
// protocol of Beans, so the coffee bean has a namespace.

enum Roasted {
  struct Bean { let name: String }
}

struct CoffeeHandle { let material: String }

struct CoffeeMachine {
  let bean: Roasted.Bean
  let handle: CoffeeHandle
  let maxWeight: Int

  init(bean: Roasted.Bean, handle: CoffeeHandle, maxWeight: Int) {
    self.bean = bean
    self.handle = handle
    self.maxWeight = maxWeight
  }
}

extension CoffeeMachine {
  struct AssistedSeed: AssistedFactory {
    typealias Seed = (Roasted.Bean, CoffeeHandle, Int)
    typealias Element = CoffeeMachine
  }

  /// Binds a machine.
  public struct Module: Cleanse.Module {
    /// Declares the binding.
    public static func configure(binder: UnscopedBinder) throws {
      try binder
        .bindFactory(CoffeeMachine.self)
        .with(AssistedSeed.self)
        .to { (seed: Assisted<(Roasted.Bean, CoffeeHandle, Int)>) in
          let (bean, coffeeHandle, weight) = seed.get()
          // The listing calls `CoffeeMachine(bean:coffeeHandle:weight:)`, which its own structure does not have.
          return CoffeeMachine(bean: bean, handle: coffeeHandle, maxWeight: weight)
        }
    }
  }
}

struct Shop {
  let coffeeMachineFactory: Factory<CoffeeMachine.AssistedSeed>
}

// Error handling: a plain binding and an assisted one of the same type. The proposal calls the protocol `AssistedInject`
// in these listings; its last revision renamed it to `AssistedFactory`.

struct Coffee {
  let name: String
}

struct CoffeeModule: Cleanse.Module {
  struct CoffeeAssistedInject: AssistedFactory {
    typealias Element = Coffee
    typealias Seed = String
  }

  static func configure(binder: UnscopedBinder) throws {
    // Both of these bindings are valid and will pass validation.
    try binder
      .bind(Coffee.self)
      .to { Coffee(name: "Hello") }

    try binder
      .bindFactory(Coffee.self)
      .with(CoffeeAssistedInject.self)
      .to { (seed: Assisted<CoffeeAssistedInject.Seed>) in
        return Coffee(name: seed.get())
      }
  }
}

// Swift type inference: the same names once more, so they have a namespace.

enum Inferred {
  struct Coffee {
    let name: String
  }

  /// `binder.bind(Coffee.self).to(factory: Coffee.init)`: the proposal shows the binding alone.
  struct PlainModule: Cleanse.Module {
    static func configure(binder: UnscopedBinder) throws {
      try binder
        .bind(Coffee.self)
        .to(factory: Coffee.init)
    }
  }

  enum WithSeed {
    struct Coffee {
      let name: Assisted<String>
    }
  }
}

extension Inferred.WithSeed.Coffee {
  struct CoffeeAssisted: AssistedFactory {
    typealias Element = Inferred.WithSeed.Coffee
    typealias Seed = String
  }
  struct Module: Cleanse.Module {
    static func configure(binder: UnscopedBinder) throws {
      try binder
        .bindFactory(Inferred.WithSeed.Coffee.self)
        .with(CoffeeAssisted.self)
        .to(factory: Inferred.WithSeed.Coffee.init)
    }
  }
}

@Suite("The proposal of assisted injection") struct AssistedInjectionProposal {
  @Test("A factory by hand is a bean like any other (Background)")
  func byHand() throws {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(CustomerService.self))
    try environment.include(CustomDetailViewControllerFactory.Module.self)
    let detail = try environment.getBean(CustomDetailViewControllerFactory.self).build("4711")
    #expect(detail.customerID == "4711")
    #expect(try detail.customerService === environment.getBean(CustomerService.self))
  }

  @Test("The list presents the product of the injected factory (Proposed solution)")
  func proposedSolution() throws {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(CustomerService.self))
    try environment.include(CustomerDetailViewController.Module.self)
    try environment.define(
      environment.bean(CustomerListViewController.self, factory: CustomerListViewController.init))
    let list = try environment.getBean(CustomerListViewController.self)
    try list.tappedCustomer(with: "4711")
    try list.tappedCustomer(with: "4712")
    let presented = list.presented.compactMap { $0 as? CustomerDetailViewController }
    #expect(presented.map(\.customerID) == ["4711", "4712"])
    #expect(presented.first?.customerService === presented.last?.customerService)
  }

  @Test("An environment has the steps of the binder without the shim")
  func inAnEnvironment() throws {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    try environment
      .define(environment.bean(CustomerService.self))
      .define(
        environment
          .bindFactory(CustomerDetailViewController.self)
          .with(CustomerDetailViewController.AssistedSeed.self)
          .to { (seed: Assisted<String>, customerService: CustomerService) in
            return CustomerDetailViewController(
              customerID: seed.get(),
              customerService: customerService)
          })
    let factory = try environment.getBean(Factory<CustomerDetailViewController.AssistedSeed>.self)
    #expect(try factory.build("4711").customerID == "4711")
  }

  @Test("Assisted can be read and mapped, and a tag names element and seed (Detailed design)")
  func detailedDesign() {
    let seed = Assisted("4711")
    #expect(seed.get() == "4711")
    #expect(seed.map { $0.count }.get() == 4)
    #expect(
      element(of: CustomerDetailViewController.AssistedSeed.self) == ObjectIdentifier(CustomerDetailViewController.self)
    )
    #expect(element(of: EmptySeed<Coffee>.self) == ObjectIdentifier(Coffee.self))
    #expect(EmptySeed<Coffee>.Seed.self == Void.self)
  }

  @Test("A tuple is one seed of several values (The coffee machine)")
  func coffeeMachine() throws {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    try environment.include(CoffeeMachine.Module.self)
    try environment.define(environment.bean(Shop.self, factory: Shop.init))
    let shop = try environment.getBean(Shop.self)
    let machine = try shop.coffeeMachineFactory.build(
      (Roasted.Bean(name: "arabica"), CoffeeHandle(material: "wood"), 7))
    #expect(machine.bean.name == "arabica" && machine.handle.material == "wood" && machine.maxWeight == 7)
  }

  @Test("A binding without `with` has no seed (Assisted injector builder objects)")
  func withoutSeed() throws {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    try UnscopedBinder(environment: environment).bindFactory(Coffee.self).to { Coffee(name: "no seed") }
    #expect(try environment.getBean(Factory<EmptySeed<Coffee>>.self).build(()).name == "no seed")
  }

  @Test("The seed comes first, or last, or anywhere (Generated arity code)")
  func arities() throws {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(CustomerService.self))
    let binder = UnscopedBinder(environment: environment).bindFactory(CustomerDetailViewController.self)
    try binder.with(CustomerDetailViewController.AssistedSeed.self).to {
      (service: CustomerService, seed: Assisted<String>) in
      CustomerDetailViewController(customerID: seed.get(), customerService: service)
    }
    let factory = try environment.getBean(Factory<CustomerDetailViewController.AssistedSeed>.self)
    #expect(try factory.build("last").customerID == "last")
  }

  @Test("A tag has one binding, and any additional one is an error (Error handling)")
  func additionalBinding() throws {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    try environment.include(CoffeeModule.self)
    try environment.define(
      environment.bindFactory(Coffee.self).with(CoffeeModule.CoffeeAssistedInject.self).to {
        (seed: Assisted<String>) in Coffee(name: "another \(seed.get())")
      })
    let error = #expect(throws: EnvironmentError.self) { try environment.startup() }
    #expect(error?.code == .invalidDeclaration)
  }

  @Test("A plain and an assisted binding of the same type pass validation (Error handling)")
  func plainAndAssisted() throws {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    try environment.include(CoffeeModule.self)
    #expect(try environment.getBean(Coffee.self).name == "Hello")
    #expect(try environment.getBean(Factory<CoffeeModule.CoffeeAssistedInject>.self).build("seed").name == "seed")
  }

  @Test("An initializer is a factory, even with Assisted as a parameter (Swift type inference)")
  func typeInference() throws {
    let environment = try Environment()
    defer { try? environment.shutdown() }
    try environment.include(Inferred.PlainModule.self)
    try environment.define(environment.bean("a name"))
    try environment.include(Inferred.WithSeed.Coffee.Module.self)
    #expect(try environment.getBean(Inferred.Coffee.self).name == "a name")
    let factory = try environment.getBean(Factory<Inferred.WithSeed.Coffee.CoffeeAssisted>.self)
    #expect(try factory.build("seed").name.get() == "seed")
  }
}
