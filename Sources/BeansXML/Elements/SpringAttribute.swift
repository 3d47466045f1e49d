/// The replacements for Spring's attributes that have no equivalent in Swift.
enum SpringAttribute {
  static let hints = [
    "init-method": "conform to Bean, whose postConstruct() is called",
    "destroy-method": "conform to DisposableBean, whose preDestroy() is called",
    "factory-method": "declare the factory in Swift, and name it as the parent",
    "factory-bean": "use a FactoryBean with a target",
    "autowire": "declare injections in the class's initializeBeanDescriptor",
    "name": "use id, and <alias> for further names",
    "type": "the type is that of the property or parameter",
    "local": "use bean",
  ]
}
