/// The namespaces of Spring other than that of `<beans>`, and the replacements for their elements.
enum SpringNamespace {
  /// The namespace of attributes that set properties: `p:name`, `p:name-ref`.
  static let properties = XMLNamespace.spring + "p"
  /// The namespace of attributes that set arguments: `c:_0`, `c:_0-ref`.
  static let arguments = XMLNamespace.spring + "c"
  static let utility = XMLNamespace.spring + "util"

  /// Returns the replacement for an element; nil if the namespace is none of Spring's.
  static func advice(for element: DocumentElement) -> String? {
    guard element.namespace.hasPrefix(XMLNamespace.spring) else { return nil }
    let name = element.namespace.dropFirst(XMLNamespace.spring.count)
    if let advice = elements["\(name):\(element.name)"] { return advice }
    return namespaces[name.split(separator: "/").first.map(String.init) ?? ""]
  }

  /// Returns the URI that a usual prefix is bound to, for documents that do not declare it.
  static func usual(_ prefix: Substring) -> String? {
    prefix == "p" || prefix == "c" || namespaces[String(prefix)] != nil ? XMLNamespace.spring + prefix : nil
  }

  private static let source = "add a configuration source to the environment in Swift"
  private static let collection = "write <list>, <set> or <map> in the property: a collection is not a bean"

  private static let elements = [
    "context:property-placeholder": source + "; placeholders need no element",
    "context:property-override": source + ", and write placeholders in the properties",
    "context:annotation-config": "omit it: property wrappers such as @Injected need no element",
    "context:component-scan": "declare each bean, or include a <module class=\"…\"/>: no classes are scanned",
    "context:load-time-weaver": "omit it: there is no weaving",
    "context:spring-configured": "omit it, and inject the bean",
    "context:mbean-export": "use the operations endpoints of BeansOperations",
    "util:list": collection, "util:set": collection, "util:map": collection,
    "util:properties": source,
    "util:constant": "write the value, or declare a bean that has it in Swift",
    "util:property-path": "declare a factory in Swift that reads the property",
    "jee:jndi-lookup": "declare the bean in Swift, or read a placeholder",
    "aop:scoped-proxy": "declare the dependent property as a Provider",
  ]

  private static let namespaces = [
    "context": "declare the beans in Swift, and include them as a <module class=\"…\"/>",
    "util": "declare the bean in Swift",
    "aop": "decorate the bean in Swift by a decorator",
    "tx": "begin the transaction in the class, or in a decorator of the bean",
    "cache": "decorate the bean in Swift by a decorator that keeps results",
    "task": "use Swift's tasks, or a bean that starts one in postConstruct()",
    "jdbc": "declare the database in Swift",
    "jee": "declare the bean in Swift",
    "jms": "declare the listener in Swift",
    "lang": "declare the class in Swift",
    "mvc": "declare routes in Swift",
    "oxm": "use Codable",
    "data": "declare the repositories in Swift",
    "security": "declare the checks as beans in Swift",
    "integration": "declare the flow in Swift",
    "batch": "declare the jobs in Swift",
    "websocket": "declare the handlers in Swift",
    "web-services": "declare the services in Swift",
    "webflow-config": "declare the flows in Swift",
    "rabbit": "declare the listener in Swift",
    "redis": "declare the client in Swift",
    "tool": "omit it",
  ]
}
