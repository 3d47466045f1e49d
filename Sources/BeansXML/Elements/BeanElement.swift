public import Beans

/// The element `<bean>`: one declaration, at the top level or in place of a value.
enum BeanElement {
  static func declaration(_ element: DocumentElement, _ context: XMLContext) -> BeanDeclaration? {
    var reader = ElementReader(element, context: context)
    let names = names(&reader)
    let parent = reader.name("parent")
    let isAbstract = reader.flag("abstract")
    let declaration = declaration(&reader, names.id, parent, isAbstract: isAbstract == true, context)
    declaration?.declared(at: element.origin)
    if let id = names.id { declaration?.id(id) }
    if let parent { declaration?.parent(parent) }
    if let isAbstract { declaration?.abstract(isAbstract) }
    if let isLazy = lazy(&reader) {
      declaration?.lazy(isLazy)
    } else if context.defaults.isLazy, isAbstract != true {
      declaration?.lazy()
    }
    if let isPrimary = reader.flag("primary") { declaration?.primary(isPrimary) }
    let profiles = reader.profiles()
    if !profiles.isEmpty { declaration?.profiles(profiles) }
    // Startup checks the name of the scope, because a bean may be the scope.
    if let scope = reader.name("scope") { declaration?.scope(scope) }
    for id in reader.names("depends-on") { declaration?.requires(id: id) }
    if let target = target(&reader, context) { declaration?.target(target) }
    if let place = reader.text("confined-to") { declaration?.confined(to: place) }
    if let reason = reader.text("assume-sendable") { declaration?.assumeSendable(reason) }
    reader.finish(allowsForeign: true)
    readChildren(reader, declaration, context)
    if let declaration { context.decorate(declaration, of: element) }
    if let id = names.id, declaration != nil {
      context.define(aliases: names.aliases, of: id, at: element, profiles: profiles)
    }
    return declaration
  }

  /// Returns the id and the further names. Without an id, the first name is the id.
  private static func names(_ reader: inout ElementReader) -> (id: String?, aliases: [String]) {
    let id = reader.name("id")
    var names = reader.names("name")
    if id == nil, reader.element["id"] == nil, !names.isEmpty { return (names.removeFirst(), names) }
    return (id, names.filter { $0 != id })
  }

  private static func declaration(
    _ reader: inout ElementReader, _ id: String?, _ parent: String?, isAbstract: Bool, _ context: XMLContext
  ) -> BeanDeclaration? {
    if let name = reader.name("class") {
      if let advice = SpringClass.advice(for: name) {
        context.refuse("the class '\(name)' is not supported: \(advice)", at: reader.origin(of: "class"))
        return nil
      }
      return context.catching(reader.origin(of: "class"), isItsPlace: true) {
        try context.environment.bean(className: name, id: id)
      }
    }
    if reader.element["class"] != nil { return nil }
    if isAbstract, id == nil {
      reader.report("a template needs an id")
    } else if parent == nil, !isAbstract {
      // The refusal of the attribute is the only fault.
      if reader.element["factory-bean"] == nil { reader.report("the bean names neither a class nor a parent") }
    } else if let parent {
      return context.environment.bean(parent: parent)
    } else if let id {
      return context.environment.template(id)
    }
    return nil
  }

  private static func lazy(_ reader: inout ElementReader) -> Bool? {
    let (lazy, spring) = (reader.flag("lazy"), reader.flag("lazy-init", unless: "default"))
    if lazy != nil, spring != nil {
      reader.report("'lazy' and 'lazy-init' have the same meaning: give one of them", "lazy-init")
    }
    return lazy ?? spring
  }

  private static func target(_ reader: inout ElementReader, _ context: XMLContext) -> Any.Type? {
    guard let name = reader.name("target") else { return nil }
    return context.catching(reader.origin(of: "target")) { try ClassName.find(name) }
  }

  private static func readChildren(
    _ reader: ElementReader, _ declaration: BeanDeclaration?, _ context: XMLContext
  ) {
    let element = reader.element
    var arguments = ConstructorArguments(context)
    var properties: Set<String> = []
    func set(_ name: String, _ value: BeanValue, at origin: EnvironmentError.Origin) {
      if !properties.insert(name).inserted { context.report("<property>: '\(name)' is set twice", at: origin) }
      declaration?.property(name, value)
    }
    for child in element.children {
      switch child.plainName {
      case "property":
        if let (name, value) = PropertyElement.read(child, context) { set(name, value, at: child.origin) }
      case "constructor-arg":
        guard let (index, value) = arguments.read(child) else { continue }
        declaration?.argument(index, value)
      case "description": break
      default:
        context.reject(child, in: element, among: ["property", "constructor-arg", "description"])
      }
    }
    for attribute in element.attributes {
      switch attribute.namespace {
      case SpringNamespace.properties:
        if let (name, value) = ShortAttribute(attribute, reader, context).property() {
          set(name, value, at: attribute.origin)
        }
      case SpringNamespace.arguments:
        guard let index = ShortAttribute(attribute, reader, context).index(),
          let value = ShortAttribute(attribute, reader, context).value(),
          let (number, value) = arguments.add(value, at: index, attribute.origin, in: reader)
        else { continue }
        declaration?.argument(number, value)
      default: break
      }
    }
  }
}

extension XMLContext {
  /// Returns the declaration of a `<bean>` element, without defining it; nil after a fault, which has been reported.
  public func declaration(of element: DocumentElement) -> BeanDeclaration? { BeanElement.declaration(element, self) }
}
