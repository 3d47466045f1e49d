import Beans

// The classes that documents of the specification name. At the top of the module: a bare name must be enough.

class Record: Initializable {
  var string = ""
  var int = 0
  var float: Float = 0
  var double = 0.0
  var small: Int8 = 0
  var flag = false

  required init() {}
}

final class Person: Initializable {
  var name: String?
  var age = 51
}

final class PersonFactory: Initializable, FactoryBean {
  var name = "made"

  func create() throws -> Person {
    let person = Person()
    person.name = name
    return person
  }
}

final class Office: Initializable {
  var owner: Person?
  var desk: Desk?
  var names: [String] = []
  var numbers: Set<Int> = []
  var ages: [String: Int] = [:]
  var people: [Person] = []
  var byName: [String: Person] = [:]
}

final class Desk: Initializable {
  var drawers = 0
  var lamp: Lamp?
}

final class Lamp: Initializable {
  var watts = 0
  var shade: Shade?
}

final class Shade: Initializable {
  var colour = ""
}

/// Has no `init()`: its templates bring the factory.
final class Invoice {
  let number: Int
  let payer: Person

  init(number: Int, payer: Person) {
    self.number = number
    self.payer = payer
  }
}

/// A scope that a document installs by declaring it.
final class ShiftScope: AbstractBeanScope, Initializable, @unchecked Sendable {  // adds no state
  init() { super.init(name: "shift") }
}

final class Labeller: Initializable, BeanPostProcessor {
  func process(_ bean: AnyObject) throws -> AnyObject {
    (bean as? Shade)?.colour += " labelled"
    return bean
  }
}

final class RecordModule: BeanModule, Initializable {
  func configure(_ environment: Environment) throws { try environment.define(environment.bean(Record.self)) }
}
