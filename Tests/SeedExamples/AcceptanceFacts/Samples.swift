import Beans
import BeansInject

/// The beans of the facts on the playground and the samples. In a namespace, because documents name them.
enum Samples {
  class Foo: Initializable {
    var id = ""
    var number = 0
    var bar: Bar?

    required init() {}
  }

  /// A foo whose bar the container injects.
  final class AutowiredFoo: Foo, BeanDescriptorInitializer {
    static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      try beanDescriptor["bar"].autowire()
    }
  }

  final class Bar: Initializable {
    var magic = 0
  }

  final class Baz {
    let name: String
    let id: String

    init(name: String, id: String) {
      self.name = name
      self.id = id
    }
  }

  final class BazFactory: FactoryBean, Initializable {
    var name = ""
    var id = ""

    func create() throws -> Baz { Baz(name: name, id: id) }
  }

  final class Bazong: Initializable {
    var id = ""
    var foo: Foo?
  }

  /// Counts the beans that it processes.
  final class Processor: BeanPostProcessor, Initializable {
    var count = 0

    func process(_ bean: AnyObject) throws -> AnyObject {
      count += 1
      return bean
    }
  }

  protocol SwiftProtocol {}

  final class Plain: SwiftProtocol, BeanDescriptorInitializer {
    let bar: Bar
    let configured: Int
    var number = 0

    init(bar: Bar, configured: Int) {
      self.bar = bar
      self.configured = configured
    }

    static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      try beanDescriptor.implements((any BeanDescriptorInitializer).self)
      try beanDescriptor["number"].inject(InjectConfigurationValue(key: "key", defaultValue: -1))
    }
  }

  final class SampleScope: AbstractBeanScope, Initializable, BeanDescriptorInitializer, @unchecked Sendable {
    // Adds no state.
    init() { super.init(name: "sample") }

    static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      try beanDescriptor.implements((any Initializable).self, (any BeanDescriptorInitializer).self)
    }
  }
}
