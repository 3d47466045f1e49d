import Beans
import BeansInject
import Testing

// The listings of the wiki page "Injection Container", in order: descriptors, properties, injections, protocols. The
// others are in ContainerWiki.swift and ContainerWikiConfiguration.swift.
//
// Changed by Swift 6: protocols as types are `any`, throwing calls are marked `try`, no class has to be an `NSObject`.
// Changed by the design: `initializeBeanDescriptor` is static, because no instance is created to describe a class; for
// the same reason a class needs no `init()` to be described.

private class Base: Initializable {
  required init() {}
}

private final class Derived: Base {}

// BeanDescriptor, the listing on `BeanDescriptorInitializer`.

private enum Described {
  class Foo: Initializable, BeanDescriptorInitializer {
    // Initializable

    required init() {
    }

    // implement BeanDescriptorInitializer

    // `class func`, where the listing's is an instance's.
    class func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      try beanDescriptor.implements((any Initializable).self, (any BeanDescriptorInitializer).self)
    }
  }
}

// BeanDescriptor, the listing on properties.

private class Foo {
  // instance data

  var string: String = ""
  var int: Int = 0
  var float: Float = 0.0
  var double: Double = 0.0
  var strings: [String] = []
}

// Injections: the framework's own base class of sources, with a value, so that there is something to see. Not
// public, because the README has it once more.

private class AbstractConfigurationSource: ConfigurationSource, Bean, BeanDescriptorInitializer, @unchecked Sendable {
  // MARK: instance data

  let url = "wiki"
  let canOverrule = true
  var configurationManager: ConfigurationManager? = nil  // injected before other code uses the source

  // MARK: implement BeanDescriptorInitializer

  class func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["configurationManager"].autowire()
  }

  // MARK: implement Bean

  func postConstruct() throws -> Void {
    try configurationManager!.addSource(self)
  }

  func load(_ manager: ConfigurationManager) throws {
    try manager.configurationAdded(ConfigurationItem(key: "from the wiki", value: 4711), source: self)
  }
}

private final class WikiSource: AbstractConfigurationSource, Initializable, @unchecked Sendable {  // adds no state
  override init() {}
}

// Retrieving beans, the listing on protocols. In a namespace: a class `Swift` would hide the standard library.

private enum Language {
  class Swift: BeanDescriptorInitializer, Initializable {
    // Initializable

    required init() {
    }

    // implement BeanDescriptorInitializer

    class func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      try beanDescriptor.implements((any BeanDescriptorInitializer).self)
    }
  }
}

@Suite("The wiki page on the container: descriptors, injections, protocols") struct ContainerWikiDescriptors {
  @Test("A BeanDescriptor is found by a type, a class, a class's name, an instance")
  func descriptors() throws {
    let descriptor = try BeanDescriptor.forClass(Foo.self)
    #expect(try BeanDescriptor.forType(Foo.self) === descriptor)
    // The page makes one of an instance by calling the constructor; there is one descriptor per class here.
    #expect(try BeanDescriptor.forInstance(Foo()) === descriptor)
    let named = try BeanDescriptor.forClass("SeedExamples.Wiki.Bar")
    #expect(ObjectIdentifier(named.getBeanClass()) == ObjectIdentifier(Wiki.Bar.self))
  }

  @Test("A BeanDescriptor has getProperties, getProperty, findProperty, and the superclass")
  func properties() throws {
    let descriptor = try BeanDescriptor.forClass(WikiSource.self)
    #expect(descriptor.getProperties(local: true).isEmpty)
    #expect(descriptor.getProperties().map { $0.getName() }.contains("configurationManager"))
    #expect(try descriptor.getSuperBean() === BeanDescriptor.forClass(AbstractConfigurationSource.self))
    #expect(try descriptor.getProperty("configurationManager").isOptional())
    #expect(try descriptor["configurationManager"].getPropertyType() == ConfigurationManager.self)
    #expect(descriptor.findProperty("none") == nil)
    let error = #expect(throws: EnvironmentError.self) { try descriptor.getProperty("none") }
    #expect(error?.code == .unknownProperty)
  }

  @Test("A superclass lists only derived classes analysed so far as sub beans (Example: Base and Derived)")
  func subBeans() throws {
    // create base descriptor

    let descriptor = try BeanDescriptor.forClass(Base.self)

    var subBeans = descriptor.getSubBeans()  // will be empty!
    #expect(subBeans.isEmpty)

    _ = try BeanDescriptor.forClass(Derived.self)

    subBeans = descriptor.getSubBeans()  // will contain one member!
    #expect(subBeans.map { ObjectIdentifier($0.getBeanClass()) } == [ObjectIdentifier(Derived.self)])
  }

  @Test("A class declares the protocols that it implements (Example)")
  func initializer() throws {
    let environment = try Environment()
    try environment.define(environment.bean(Described.Foo.self))
    #expect(try environment.getBean((any BeanDescriptorInitializer).self) is Described.Foo)
  }

  @Test("A property is set by its name (Example)")
  func property() throws {
    let foo = Foo()
    let bean = try BeanDescriptor.forClass(Foo.self)

    try bean["string"].set(foo, value: "hello")

    #expect(foo.string == "hello")
    #expect(try bean["string"].get(foo) as? String == "hello")
    #expect(try bean["string"].getName() == "string" && !bean["string"].isOptional())
  }

  @Test("A source has the configuration manager injected, and adds itself (Injections)")
  func injections() throws {
    let environment = try Environment(name: "environment")
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(WikiSource.self))
    try environment.startup()
    #expect(try environment.getConfigurationValue(Int.self, key: "from the wiki") == 4711)
  }

  @Test("An injection is added by the definition of its class in the environment (Injections)")
  func ownInjection() throws {
    final class InjectLength: Inject, @unchecked Sendable {}  // adds no state
    final class LengthInjection: Injection, Initializable, @unchecked Sendable {  // adds no state
      init() { super.init(for: InjectLength.self) }

      override func computeValue(_ inject: Inject, property: PropertyDescriptor, environment: Environment) -> Any? {
        property.getName().count
      }
    }
    final class Named: Initializable, BeanDescriptorInitializer {
      var fourteenLength = 0

      static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
        try beanDescriptor["fourteenLength"].inject(InjectLength())
      }
    }
    let environment = try Environment()
    try environment
      .define(environment.bean(Named.self))
      .define(environment.bean(LengthInjection.self))
    #expect(try environment.getBean(Named.self).fourteenLength == 14)
  }

  @Test("A class declares its protocols, or the declaration does (Protocols)")
  func protocols() throws {
    let environment = try Environment()
    try environment
      .define(
        environment.bean(Language.Swift.self, factory: Language.Swift.init)
          .implements((any BeanDescriptorInitializer).self))
    #expect(try environment.getBean((any BeanDescriptorInitializer).self) is Language.Swift)
  }

  @Test("A lazy bean is found by its superclass before it has been created; the page's remark is history (Timing)")
  func timing() throws {
    let environment = try Environment()
    try environment.define(environment.bean(Derived.self, lazy: true))
    #expect(try environment.getBean(Base.self) is Derived)
  }
}
