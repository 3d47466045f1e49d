extension BeanValue {
  /// Returns the collection type for a list or a map; nil if the wanted type is no collection or one of the other kind.
  func collection(as parameter: Parameter) -> (any CollectionType.Type)? {
    guard let collection = parameter.wanted as? any CollectionType.Type else { return nil }
    return switch self {
    case .merged(let value): value.collection(as: parameter)
    case .list(let elements): elements.isEmpty || collection.key == nil ? collection : nil
    case .map(let entries): entries.isEmpty || collection.key != nil ? collection : nil
    default: nil
    }
  }

  /// Returns the elements, or keys and elements alternately, each with its wanted type and its name in faults.
  func parts(
    of collection: any CollectionType.Type, at point: InjectionPoint
  ) -> [(value: BeanValue, parameter: Parameter, point: InjectionPoint)] {
    switch self {
    case .list(let elements):
      let element = collection.element
      return elements.enumerated().map { ($0.element, element, .element($0.offset, of: point)) }
    case .map(let entries):
      guard let key = collection.key else { return [] }
      let element = collection.element
      return entries.enumerated().flatMap { index, entry in
        [(entry.key, key, .key(index, of: point)), (entry.value, element, .element(index, of: point))]
      }
    default: return []
    }
  }
}
