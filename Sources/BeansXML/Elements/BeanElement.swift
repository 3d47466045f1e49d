import Beans

/// The element `<bean>`: one declaration, at the top level or in place of a value.
enum BeanElement {
  static func declaration(_ element: DocumentElement, _ context: XMLContext) -> BeanDeclaration? {
    var reader = ElementReader(element, context: context)
    let id = reader.name("id")
    let parent = reader.name("parent")
    let isAbstract = reader.flag("abstract")
    let declaration = declaration(&reader, id, parent, isAbstract: isAbstract == true, context)
    declaration?.declared(at: element.origin)
    if let id { declaration?.id(id) }
    if let parent { declaration?.parent(parent) }
    if let isAbstract { declaration?.abstract(isAbstract) }
    if let isLazy = lazy(&reader) { declaration?.lazy(isLazy) }
    if let isPrimary = reader.flag("primary") { declaration?.primary(isPrimary) }
    let profiles = reader.profiles()
    if !profiles.isEmpty { declaration?.profiles(profiles) }
    // Startup checks the name of the scope, because a bean may be the scope.
    if let scope = reader.name("scope") { declaration?.scope(scope) }
    for id in reader.names("depends-on") { declaration?.dependsOn(id) }
    if let target = target(&reader, context) { declaration?.target(target) }
    if let place = reader.text("confined-to") { declaration?.confined(to: place) }
    if let reason = reader.text("assume-sendable") { declaration?.assumeSendable(reason) }
    reader.finish(allowsForeign: true)
    readChildren(element, declaration, context)
    if let declaration { context.decorate(declaration, of: element) }
    return declaration
  }

  private static func declaration(
    _ reader: inout ElementReader, _ id: String?, _ parent: String?, isAbstract: Bool, _ context: XMLContext
  ) -> BeanDeclaration? {
    if let name = reader.name("class") {
      return context.catching(reader.origin(of: "class"), isItsPlace: true) {
        try context.environment.bean(className: name, id: id)
      }
    }
    if reader.element["class"] != nil { return nil }
    if isAbstract, id == nil {
      reader.report("a template needs an id")
    } else if parent == nil, !isAbstract {
      reader.report("the bean names neither a class nor a parent")
    } else if let parent {
      return context.environment.bean(parent: parent)
    } else if let id {
      return context.environment.template(id)
    }
    return nil
  }

  private static func lazy(_ reader: inout ElementReader) -> Bool? {
    let (lazy, spring) = (reader.flag("lazy"), reader.flag("lazy-init"))
    if lazy != nil, spring != nil {
      reader.report("'lazy' and 'lazy-init' say the same: give one of them", "lazy-init")
    }
    return lazy ?? spring
  }

  private static func target(_ reader: inout ElementReader, _ context: XMLContext) -> Any.Type? {
    guard let name = reader.name("target") else { return nil }
    return context.catching(reader.origin(of: "target")) { try ClassName.find(name) }
  }

  private static func readChildren(
    _ element: DocumentElement, _ declaration: BeanDeclaration?, _ context: XMLContext
  ) {
    var arguments = ConstructorArguments(context)
    var properties: Set<String> = []
    for child in element.children {
      switch child.plainName {
      case "property":
        guard let (name, value) = PropertyElement.read(child, context) else { continue }
        if !properties.insert(name).inserted {
          context.report("<property>: '\(name)' is set twice", at: child.origin)
        }
        declaration?.property(name, value)
      case "constructor-arg":
        guard let (index, value) = arguments.read(child) else { continue }
        declaration?.argument(index, value)
      case "description": break
      default:
        context.report(
          context.unknown(child, in: "<bean>", among: ["property", "constructor-arg", "description"]))
      }
    }
  }
}
