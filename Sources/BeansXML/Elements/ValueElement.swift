import Beans

/// An element of Spring's namespace in place of a value.
struct ValueElement {
  private static let names = ["bean", "value", "ref", "idref", "null", "list", "set", "array", "map", "props"]

  private let element: DocumentElement
  private let context: XMLContext
  private var reader: ElementReader

  init(_ element: DocumentElement, _ context: XMLContext) {
    self.element = element
    self.context = context
    self.reader = ElementReader(element, context: context)
  }

  /// - Parameter type: the name of the type that the enclosing collection states for a text, if any.
  /// - Throws: `.invalidXML` for an element that is no value. A fault inside an element is reported instead, and the
  ///   value is not used.
  mutating func read(type: String? = nil) throws -> BeanValue {
    switch element.name {
    case "bean": return try bean()
    case "value": return text(type)
    case "ref": return reference { .reference($0) }
    case "idref": return reference { .id($0) }
    case "null": return null()
    case "list", "set", "array": return list()
    case "map": return map()
    case "props": return properties()
    default: throw context.unknown(element, in: "a value", among: Self.names)
    }
  }

  private func bean() throws -> BeanValue {
    BeanElement.declaration(element, context).map { .bean($0) } ?? .null
  }

  /// Returns the text with its white space, as Spring does: a conversion to a number or a Boolean ignores it.
  private mutating func text(_ type: String?) -> BeanValue {
    let own = reader.name("type")
    reader.finish(allowsText: true)
    context.rejectChildren(of: element)
    return TextValue(context, element).read(element.characters, type: own ?? type, at: element.origin) ?? .null
  }

  private mutating func reference(_ value: (String) -> BeanValue) -> BeanValue {
    // Until Spring 4, `local` is the id of a bean in the same document.
    let id: String?
    if element["bean"] == nil, element["local"] != nil {
      id = reader.name("local")
    } else if element["bean"] == nil, element["parent"] != nil {
      // The refusal of the attribute is the only fault.
      id = nil
    } else {
      id = reader.required("bean")
    }
    finishEmpty()
    return id.map(value) ?? .null
  }

  private func null() -> BeanValue {
    finishEmpty()
    return .null
  }

  private mutating func list() -> BeanValue {
    let type = reader.name("value-type")
    let merges = merges()
    reader.finish()
    let elements = element.children.filter { $0.plainName != "description" }
    return merged(
      .list(
        elements.compactMap { child in
          context.value(of: child, type: type).map { .declared($0, at: child.origin) }
        }), merges)
  }

  private mutating func map() -> BeanValue {
    let types = (key: reader.name("key-type"), value: reader.name("value-type"))
    let merges = merges()
    reader.finish()
    return merged(
      .map(
        element.children.compactMap { child in
          switch child.plainName {
          case "description": return nil
          case "entry": return MapEntry.read(child, types, context)
          default:
            context.report(context.unknown(child, in: "<map>", among: ["entry"]))
            return nil
          }
        }), merges)
  }

  private mutating func properties() -> BeanValue {
    let merges = merges()
    reader.finish()
    return merged(.map(element.children.compactMap(entry)), merges)
  }

  private func entry(_ child: DocumentElement) -> (key: BeanValue, value: BeanValue)? {
    if child.plainName == "description" { return nil }
    guard child.plainName == "prop" else {
      context.report(context.unknown(child, in: "<props>", among: ["prop"]))
      return nil
    }
    var reader = ElementReader(child, context: context)
    let key = reader.text("key")
    if key == nil { reader.report("the attribute 'key' is missing") }
    reader.finish(allowsText: true)
    context.rejectChildren(of: child)
    let text = TextValue(context, child)
    guard let key = key.flatMap({ text.read($0, at: child.origin) }),
      let value = text.read(child.text, at: child.origin)
    else { return nil }
    return (.declared(key, at: child.origin), .declared(value, at: child.origin))
  }

  private mutating func merges() -> Bool { reader.flag("merge", unless: "default") ?? context.defaults.merges }

  private func merged(_ value: BeanValue, _ merges: Bool) -> BeanValue { merges ? .merged(value) : value }

  private func finishEmpty() {
    reader.finish()
    context.rejectChildren(of: element)
  }
}

extension XMLContext {
  /// Returns the value of an element whose text has the type that the enclosing collection states, if any.
  func value(of element: DocumentElement, type: String?) -> BeanValue? {
    guard let type, element.plainName == "value" else { return value(of: element) }
    return catching(element.origin) {
      var reader = ValueElement(element, self)
      return try reader.read(type: type)
    }
  }
}
