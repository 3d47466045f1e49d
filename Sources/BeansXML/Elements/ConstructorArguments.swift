import Beans

/// The `<constructor-arg>` elements of one bean. Elements without an index are numbered from 0, in their order in the
/// document.
struct ConstructorArguments {
  private let context: XMLContext
  private var next = 0
  private var given: Set<Int> = []

  init(_ context: XMLContext) { self.context = context }

  mutating func read(_ element: DocumentElement) -> (index: Int, value: BeanValue)? {
    var reader = ElementReader(element, context: context)
    let index = index(&reader)
    let value = reader.value(context: context)
    // The index selects the parameter, so a further type has no effect.
    if element["index"] != nil { _ = reader.text("type") }
    reader.finish()
    guard let index else { return nil }
    if !given.insert(index).inserted { reader.report("argument \(index) is given twice", "index") }
    return value.map { (index, .declared($0, at: element.origin)) }
  }

  /// Adds the argument of an attribute; nil after a fault, which has been reported.
  mutating func add(
    _ value: BeanValue, at index: ShortAttribute.Place, _ origin: EnvironmentError.Origin, in reader: ElementReader
  ) -> (index: Int, value: BeanValue)? {
    let number: Int
    switch index {
    case .number(let given): number = given
    case .next:
      number = next
      next += 1
    }
    guard given.insert(number).inserted else {
      context.report("<\(reader.element.qualifiedName)>: argument \(number) is given twice", at: origin)
      return nil
    }
    return (number, value)
  }

  private mutating func index(_ reader: inout ElementReader) -> Int? {
    guard let text = reader.name("index") else {
      // An empty index has been reported.
      guard reader.element["index"] == nil else { return nil }
      defer { next += 1 }
      return next
    }
    guard let index = Int(text), index >= 0 else {
      reader.report("'index' must be a number from 0, not '\(text)'", "index")
      return nil
    }
    return index
  }
}
