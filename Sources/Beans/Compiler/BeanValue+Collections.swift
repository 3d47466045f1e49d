extension BeanValue {
  /// The collection that a list or a map becomes; nil where the wanted type is none, or takes the other kind.
  func collection(as parameter: Parameter) -> (any CollectionType.Type)? {
    guard let collection = parameter.wanted as? any CollectionType.Type else { return nil }
    return switch self {
    case .list(let elements): elements.isEmpty || collection.key == nil ? collection : nil
    case .map(let entries): entries.isEmpty || collection.key != nil ? collection : nil
    default: nil
    }
  }

  /// Elements, or keys and elements in turn: what each is to be, and how faults call it.
  func parts(
    of collection: any CollectionType.Type, at point: String
  ) -> [(value: BeanValue, parameter: Parameter, point: String)] {
    switch self {
    case .list(let elements):
      let element = collection.element
      return elements.enumerated().map { ($0.element, element, "\(point), element \($0.offset)") }
    case .map(let entries):
      guard let key = collection.key else { return [] }
      let element = collection.element
      return entries.enumerated().flatMap { index, entry in
        [(entry.key, key, "\(point), key \(index)"), (entry.value, element, "\(point), element \(index)")]
      }
    default: return []
    }
  }
}
