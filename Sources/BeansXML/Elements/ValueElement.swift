import Beans

/// An element of Spring's namespace in place of a value.
struct ValueElement {
  private static let names = ["bean", "value", "ref", "null", "list", "set", "array", "map", "props"]

  private let element: DocumentElement
  private let context: XMLContext
  private var reader: ElementReader

  init(_ element: DocumentElement, _ context: XMLContext) {
    self.element = element
    self.context = context
    self.reader = ElementReader(element, context: context)
  }

  /// - Throws: `.invalidXML` for an element that is no value. A fault inside an element is reported instead, and the
  ///   value is not used.
  mutating func read() throws -> BeanValue {
    switch element.name {
    case "bean": return try bean()
    case "value": return text()
    case "ref": return try reference()
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

  private func text() -> BeanValue {
    reader.finish(allowsText: true)
    context.rejectChildren(of: element)
    return .text(element.text)
  }

  private mutating func reference() throws -> BeanValue {
    let id = reader.required("bean")
    finishEmpty()
    return id.map { .reference($0) } ?? .null
  }

  private func null() -> BeanValue {
    finishEmpty()
    return .null
  }

  private func list() -> BeanValue {
    reader.finish()
    return .list(
      element.children.compactMap { child in context.value(of: child).map { .declared($0, at: child.origin) } })
  }

  private func map() -> BeanValue {
    reader.finish()
    return .map(
      element.children.compactMap { child in
        guard child.plainName == "entry" else {
          context.report(context.unknown(child, in: "<map>", among: ["entry"]))
          return nil
        }
        return MapEntry.read(child, context)
      })
  }

  private func properties() -> BeanValue {
    reader.finish()
    return .map(
      element.children.compactMap { child in
        guard child.plainName == "prop" else {
          context.report(context.unknown(child, in: "<props>", among: ["prop"]))
          return nil
        }
        var reader = ElementReader(child, context: context)
        let key = reader.text("key")
        if key == nil { reader.report("the attribute 'key' is missing") }
        reader.finish(allowsText: true)
        context.rejectChildren(of: child)
        return key.map {
          (.declared(.text($0), at: child.origin), .declared(.text(child.text), at: child.origin))
        }
      })
  }

  private func finishEmpty() {
    reader.finish()
    context.rejectChildren(of: element)
  }
}
