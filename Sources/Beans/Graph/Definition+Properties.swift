extension Definition {
  /// Looks up the properties that are only named, and what the class itself has injections for. Returns what is wrong.
  func bindProperties() -> [EnvironmentError] {
    let isInjected = traits.contains(.injected) || DescribedClasses.contains(type)
    if properties.isEmpty, !isInjected { return [] }
    var faults: [EnvironmentError] = []
    var bound: [PropertyInjection] = []
    for property in properties {
      do { bound.append(try property.bound(to: type)) } catch { faults.append(fault(error)) }
    }
    let answers = properties
    var injections: [ClassInjection] = []
    if isInjected, let type = type as? AnyClass {
      do {
        // The declaration has the last word.
        injections = try ClassInjection.all(of: type).filter { injection in
          !answers.contains { $0.sets(injection) == .yes }
        }
      } catch { faults.append(fault(error)) }
    }
    bind(bound, injections)
    return faults
  }

  /// Whether the declaration gives anything but beans, to this bean or to its product.
  var mayHaveValues: Bool { mayHaveOwnValues || product != nil }
  private var mayHaveOwnValues: Bool { !pinned.areReferences || !properties.isEmpty || !injections.isEmpty }

  /// Collects the values that the declaration gives: also where no recipe is made yet, because the scope opens elsewhere.
  func prepareValues() {
    product?.prepareValues()
    if !mayHaveOwnValues { return }
    let parameters = constructor?.dependencies ?? []
    for pinned in pinned.all where parameters.indices.contains(pinned.index) {
      let parameter = parameters[pinned.index]
      // A seed cannot be pinned: the linker says so.
      if case .assisted = parameter.shape { continue }
      _ = fixedValue(pinned.value, as: parameter, at: .parameter(pinned.index))
    }
    for property in properties {
      guard let access = property.access else { continue }
      _ = fixedValue(property.value, as: access.dependency, at: .property(property.name))
    }
    for injection in injections {
      guard case .configuration(let inject) = injection.source else { continue }
      _ = fixedValue(.configuration(inject), injection.access.dependency, at: injection.place)
    }
  }

  /// What needs no bean; nil where it does, or where the shape is wrong. Under the plan's lock.
  func fixedValue(_ value: BeanValue, as dependency: Dependency, at place: Place) -> FixedValue? {
    switch value {
    case .value(let value): return fixedValue(.value(value), dependency, at: place.description)
    case .text(let text): return fixedValue(.text(text), dependency, at: place.description)
    case .null:
      let null = Any?.none as Any
      guard let argument = dependency.argument(fixed: null) else { return nil }
      argument.release()
      return fixedValue(.value(null), dependency, at: place.description)
    case .list, .map:
      guard let collection = value.collection(as: dependency) else { return nil }
      let place = place.description
      let parts = value.parts(of: collection, at: place)
      // All of them are looked at, so that all are settled.
      let values = parts.compactMap { fixedValue($0.value, as: $0.dependency, at: .other($0.place)) }
      return values.count == parts.count ? fixedValue(.parts(values, collection), dependency, at: place) : nil
    case .reference, .bean, .inject: return nil
    }
  }

  private func fault(_ error: any Error) -> EnvironmentError {
    let cause = error as? EnvironmentError
    return fault(cause?.code ?? .invalidDeclaration, cause?.message ?? "\(error)")
  }
}

extension PropertyInjection {
  fileprivate func bound(to type: Any.Type) throws -> PropertyInjection {
    guard case .text(let name) = name, access == nil else { return self }
    return PropertyInjection(name, value, try PropertyAccess.named(name, of: type))
  }
}

extension BeanValue {
  /// One element, key or value of a collection.
  struct Part {
    let value: BeanValue
    let dependency: Dependency
    let place: String
  }

  /// The collection that a list or a map becomes; nil where the wanted type is none, or of the other kind.
  func collection(as dependency: Dependency) -> (any CollectionType.Type)? {
    guard let collection = dependency.wanted as? any CollectionType.Type else { return nil }
    return switch self {
    case .list(let elements): elements.isEmpty || collection.key == nil ? collection : nil
    case .map(let entries): entries.isEmpty || collection.key != nil ? collection : nil
    default: nil
    }
  }

  /// Elements, or keys and elements in turn.
  func parts(of collection: any CollectionType.Type, at place: String) -> [Part] {
    switch self {
    case .list(let elements):
      let dependency = collection.element
      return elements.enumerated().map {
        Part(value: $0.element, dependency: dependency, place: "\(place), element \($0.offset)")
      }
    case .map(let entries):
      guard let key = collection.key else { return [] }
      let element = collection.element
      return entries.enumerated().flatMap { index, entry in
        [
          Part(value: entry.key, dependency: key, place: "\(place), key \(index)"),
          Part(value: entry.value, dependency: element, place: "\(place), element \(index)"),
        ]
      }
    default: return []
    }
  }
}
