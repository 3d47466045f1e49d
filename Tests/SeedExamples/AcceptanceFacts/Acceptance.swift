import Beans
import BeansInject

/// The beans of the facts on environments. In a namespace, because documents name them.
enum Acceptance {
  final class Data: Initializable, BeanDescriptorInitializer {
    var string = ""
    var int = 0
    var float: Float = 0
    var double = 0.0
    var character: Character = "a"
    var int8: Int8 = 0
    var foo: FooBase?
    var bar: BarBean?

    static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      try beanDescriptor["foo"].autowire()
    }
  }

  class FooBase: Initializable {
    required init() {}
  }

  final class FooBean: FooBase {
    var name: String?
    var age = 0
  }

  final class BarBean: Initializable {
    var name: String?
    var age = 51
  }

  final class BarFactoryBean: FactoryBean, Initializable {
    var name: String?
    var age = 4711

    func create() throws -> BarBean {
      let bar = BarBean()
      bar.name = name
      bar.age = age
      return bar
    }
  }
}
