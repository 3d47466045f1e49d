import Beans
import BeansEventLoop
import BeansRunning
import BeansServer
import BeansSessions
import BeansXML
import Dispatch

extension Fault {
  /// Calls that are too late, or exceed a limit.
  static let states: [Fault] = [
    .call(.frozen, "A bean is defined after startup.") { shop in
      try shop.startup()
      try shop.define(shop.bean(Order.self))
    },
    .call(.frozen, "An alias is given after startup.") { try $0.startup().alias("warehouse", of: "stock") },
    .call(.frozen, "A scope is registered after startup.") { try $0.startup().registerScope(LateScope()) },
    .call(
      .frozen, "A factory of children is declared after startup."
    ) { _ = try $0.startup().childFactory("request", seed: Int.self) },
    .call(
      .frozen, "An XML document is loaded after startup."
    ) { try $0.startup().loadShop("<bean class='FaultTests.Order'/>") },
    .call(
      .frozen, "Settings are defined after startup."
    ) { try $0.startup().define($0.settings().setValue(key: "port", value: 80)) },

    .call(.finished, "A lookup comes after the end of the environment.") { shop in
      try shop.define(shop.bean(Stock.self))
      try shop.startup()
      shop.finish()
      _ = try shop.getBean(Stock.self)
    },
    .call(.finished, "A lookup in a child comes after the end of its parent.") { shop in
      let request = try shop.childFactory("request", seed: Int.self).build(1)
      shop.finish()
      _ = try request.getBean(Int.self)
    },
    .call(.finished, "A child is opened after the end of its parent.") { shop in
      let requests = try shop.childFactory("request", seed: Int.self)
      try shop.startup()
      try shop.shutdown()
      _ = try requests.build(1)
    },
    .call(.finished, "An assisted factory builds after the end of its environment.") { shop in
      try shop.define(
        shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<Int>) in Order() })
      let orders = try shop.getBean(Factory<OrderFactory>.self)
      try shop.shutdown()
      _ = try orders.build(1)
    },
    .call(.finished, "A provider is called after the end of its environment.") { shop in
      try shop.define(shop.bean(Stock.self))
      let stock = try shop.getBean(Provider<Stock>.self)
      try shop.shutdown()
      _ = try stock.get()
    },
    .call(.finished, "An event is published after the end of the environment.") { shop in
      try shop.startup().shutdown()
      try shop.publish(Shipped(number: 1))
    },
    .call(.finished, "A session whose id is not known is to get another one.") { shop in
      let sessions = Sessions(try shop.childFactory("session", seed: Int.self))
      _ = try sessions.rotate("0123456789abcdef0123456789abcdef")
    },
    .call(.finished, "A session has ended before a caller could enter it.") { shop in
      let loop = try EventLoop()
      defer { try? loop.close() }
      let sessions = Sessions(
        try shop.childFactory(
          "session", seed: Int.self,
          scope: {
            let scope = SessionScope(loop: loop, idleTimeout: .seconds(60))
            scope.finish()
            return scope
          }))
      try sessions.withSession("ada", opening: 1) { _ throws in }
    },

    .call(
      .exhausted, "A session is opened beyond the capacity, and each session is in use."
    ) { shop in
      let sessions = Sessions(try shop.childFactory("session", seed: Int.self), capacity: 1)
      try sessions.withSession("ada", opening: 1) { _ throws in _ = try sessions.open("grace", 2) }
    },
    .call(.scopeNotActive, "A registry takes in a session of another tenant.") { shop in
      let tenants = try shop.childFactory("tenant", seed: Int.self)
      let factory = try tenants.childFactory("session", seed: String.self)
      let sessions = Sessions(factory, in: try tenants.build(1))
      _ = try sessions.add(try factory.build("ada", in: try tenants.build(2)))
    },
    .call(.notReady, "A session of a store is opened under an id from elsewhere.") { shop in
      let factory = try shop.childFactory("session", seed: SessionState.self)
      _ = try Sessions(factory, store: MemorySessionStore()).open("ada", SessionState())
    },
    .call(.cyclicDependency, "The opening of a session opens that session.") { shop in
      let sessions = Sessions(try shop.childFactory("session", seed: String.self))
      _ = try sessions.open("ada", try sessions.open("ada", "").name)
    },
  ]

  /// Errors of the user's own code.
  static let building: [Fault] = [
    .startup(
      .creationFailed, "A factory throws.", when: .building
    ) { try $0.define($0.bean(Database.self, id: "main", factory: { throw Outage() })) },
    .startup(
      .creationFailed, "A bean throws when it is told that it is complete.", when: .building
    ) { try $0.define($0.bean(Stock.self).postConstruct { _ in throw Outage() }) },
    .startup(.creationFailed, "A dependency of a bean cannot be built.", when: .building) { shop in
      try shop.define(shop.bean(Database.self, lazy: true, factory: { throw Outage() }))
      try shop.define(shop.bean(Catalogue.self, factory: Catalogue.init))
    },
    .startup(.creationFailed, "A post processor throws.", when: .building) { shop in
      try shop.define(shop.bean(Inspector.self))
      try shop.define(shop.bean(Order.self))
    },
    .startup(
      .creationFailed, "A factory bean throws when it is asked for its product.", when: .building
    ) { try $0.define($0.bean(BrokenPrinter.self).target(Order.self)) },
    .startup(
      .creationFailed, "A configuration source that is a bean throws when it is loaded.", when: .preparing
    ) { try $0.define($0.bean(BrokenSource.self)) },
    .call(.creationFailed, "A factory throws at the first lookup of a lazy bean.") { shop in
      try shop.define(shop.bean(Database.self, lazy: true, factory: { throw Outage() }))
      _ = try shop.getBean(Database.self)
    },
    .call(.creationFailed, "The factory of an assisted bean throws.") { shop in
      try shop.define(
        shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<Int>) in throw Outage() })
      _ = try shop.getBean(Factory<OrderFactory>.self).build(1)
    },

    .call(.destructionFailed, "A bean throws when it is released.") { shop in
      try shop.define(shop.bean(Stock.self, id: "main").onDestroy { _ in throw Outage() })
      try shop.startup().shutdown()
    },
    .call(.destructionFailed, "Several beans throw when they are released.") { shop in
      try shop.define(shop.bean(Stock.self).onDestroy { _ in throw Outage() })
      try shop.define(shop.bean(Order.self).onDestroy { _ in throw Outage() })
      try shop.startup().shutdown()
    },
    .call(.destructionFailed, "A bean that is released asynchronously meets a synchronous shutdown.") { shop in
      try shop.define(shop.bean(Connection.self, factory: Connection.init))
      try shop.startup().shutdown()
    },
    .call(.destructionFailed, "The release of a bean takes longer than its limit.") { shop in
      let end = DispatchSemaphore(value: 0)
      defer { end.signal() }
      try shop.define(
        shop.bean(Stock.self, id: "main").onDestroy { _ in end.wait() }.releaseLimit(.milliseconds(1)))
      try shop.startup().shutdown()
    },
    .call(
      .destructionFailed, "The time of a shutdown is over before everything has been released.",
      hasOrigin: false
    ) { shop in
      let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      try shop.define(
        shop.bean(
          Stock.self, lazy: true,
          factory: {
            begun.signal()
            end.wait()
            return Stock()
          }))
      try shop.startup()
      let errors = together([
        { _ = try shop.getBean(Stock.self) },
        {
          defer { end.signal() }
          begun.wait()
          try shop.shutdown(within: .milliseconds(1))
        },
      ])
      if let error = errors[1] { throw error }
    },

    .awaiting(.runFailed, "A bean throws while it runs.") { shop in
      try shop.define(shop.bean(Failing.self, factory: Failing.init))
      try await shop.run()
    },
    .awaiting(.runFailed, "`run()` is called while another call is in progress.") { shop in
      try shop.define(shop.bean(Idle.self, factory: Idle.init))
      let run = Task { try await shop.run() }
      defer { run.cancel() }
      try await shop.getBean(awaiting: Idle.self).untilStarted()
      try await shop.run()
    },

    .call(.listenerFailed, "A listener throws.") { shop in
      try shop.define(shop.bean(Stock.self).listens { (_, _: Shipped) in throw Outage() })
      try shop.publish(Shipped(number: 1))
    },
    .call(.listenerFailed, "A listener cannot be built for an event.") { shop in
      try shop.define(
        shop.bean(Database.self, lazy: true, factory: { throw Outage() }).listens { (_, _: Shipped) in })
      try shop.publish(Shipped(number: 1))
    },
    .call(.listenerFailed, "Several listeners throw.") { shop in
      try shop.define(shop.bean(Stock.self).listens { (_, _: Shipped) in throw Outage() })
      try shop.define(shop.bean(Order.self).listens { (_, _: Shipped) in throw Outage() })
      try shop.publish(Shipped(number: 1))
    },
    .call(.listenerFailed, "A listener publishes an event that it receives itself, without an end.") { shop in
      try shop.define(shop.bean(Stock.self).listens { (_, event: Shipped) in try shop.publish(event) })
      try shop.publish(Shipped(number: 1))
    },
    .startup(
      .listenerFailed, "A factory publishes an event whose listener needs the factory's bean.", when: .building
    ) { shop in
      try shop.define(
        shop.bean(Database.self) { (shop: Environment) in
          try shop.publish(Shipped(number: 1))
          return Database()
        })
      try shop.define(
        shop.bean(Catalogue.self, factory: Catalogue.init).listens { (_, _: Shipped) in })
    },
  ]
}

/// An event.
private struct Shipped: Sendable { let number: Int }

private final class LateScope: BeanScope {
  let name = "late"
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject { try factory.create(bean) }
  func finish() {}
}

private final class Inspector: BeanPostProcessor, Initializable {
  func process(_ bean: AnyObject) throws -> AnyObject {
    if bean is Order { throw Outage() }
    return bean
  }
}

private final class BrokenPrinter: FactoryBean, Initializable {
  func create() throws -> Order { throw Outage() }
}

private final class BrokenSource: ConfigurationSource, Initializable {
  let url = "broken"
  let canOverrule = true
  func load(_ manager: ConfigurationManager) throws { throw Outage() }
}

private final class Connection: AsyncDisposableBean {
  func preDestroy() async {}
}
