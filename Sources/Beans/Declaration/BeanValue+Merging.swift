extension BeanValue {
  /// Returns the value of a property or an argument where a template sets the same one: the value itself, unless it is
  /// `.merged`.
  ///
  /// The result is `.merged` where the template's value is, so that it is also added to the template's template.
  func inheriting(_ template: BeanValue) -> BeanValue {
    switch self {
    case .declared(.merged(let value), let origin): .declared(value.added(to: template) ?? value, at: origin)
    case .merged(let value): value.added(to: template) ?? value
    default: self
    }
  }

  /// Returns the collection of the template with the elements of this one; nil where one of them is no collection.
  private func added(to template: BeanValue) -> BeanValue? {
    switch (self, template) {
    case (.declared(let value, _), _): return value.added(to: template)
    case (_, .declared(let value, _)): return added(to: value)
    case (_, .merged(let value)): return added(to: value).map { .merged($0) }
    case (.list(let own), .list(let inherited)): return .list(inherited + own)
    case (.map(let own), .map(let inherited)):
      let names = Set(own.compactMap(\.key.name))
      // An entry replaces the template's one with the same key.
      let rest = inherited.filter { entry in entry.key.name.map { !names.contains($0) } ?? true }
      return .map(rest + own)
    default: return nil
    }
  }

  /// The text by which keys of maps are compared; nil for a key whose value is known later.
  private var name: String? {
    switch self {
    case .text(let text), .reference(let text), .id(let text): text
    case .value(let value): "\(value)"
    case .declared(let value, _), .merged(let value): value.name
    case .bean, .byType, .list, .map, .null: nil
    }
  }

  /// The ids that have to exist, with the place of each, at any depth of lists and maps.
  var requiredIds: [(id: String, origin: EnvironmentError.Origin?)] {
    switch self {
    case .id(let id): [(id, nil)]
    case .declared(let value, let origin): value.requiredIds.map { ($0.id, $0.origin ?? origin) }
    default: parts.flatMap(\.requiredIds)
    }
  }

  /// Whether the value contains the bean of a declaration, declared in place or by its id.
  func leads(to spec: FrozenSpec) -> Bool {
    switch self {
    case .reference(let id): id == spec.id
    case .byType: true
    case .bean(let declaration): declaration.spec.number == spec.number
    default: parts.contains { $0.leads(to: spec) }
    }
  }
}
