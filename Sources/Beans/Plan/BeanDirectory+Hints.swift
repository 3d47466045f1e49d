@_spi(BeansPackage) import BeansErrors
import BeansReflection

// The hints at the end of messages about a bean that is not found.

extension BeanDirectory {
  /// A declaration with an id but without a bean: a template, or a declaration with errors.
  struct Unbuilt {
    let type: Any.Type?
    let id: String?
    let isAbstract: Bool
    let location: SourceLocation
  }

  /// Returns near misses for a missing bean, and the likely cause of the fault.
  ///
  /// - Parameters:
  ///   - parameter: the parameter that no bean matches.
  ///   - module: the module of the declaration that has the parameter.
  ///   - below: the beans of factories' children.
  ///   - hasHints: whether to search for types of the same name, which costs a walk over all beans.
  func missing(
    _ parameter: Parameter, from module: ObjectIdentifier?, in below: ArraySlice<BeanDirectory>, hasHints: Bool
  ) -> (hint: String, cause: FaultCause) {
    let type = parameter.element
    let criteria = parameter.criteria(from: module)
    let holders = below.filter { $0.hasCandidate(for: type, criteria) }.map { "'\($0.name)'" }
    let elsewhere =
      holders.isEmpty
      ? ""
      : "; children of scope \(holders.joined(separator: ", ")) have one: take a Current or a Provider of it, or look it up there"
    let hints: [(text: String, cause: FaultCause)] = [
      (elsewhere, .onlyInChildren),
      (hint(below: below) { $0.answers(to: type, criteria) }, .inactiveBean),
      (hint(forPrivate: type), .privateBean), (hint(forTemplate: type), .onlyTemplate),
    ]
    let usual: FaultCause = if parameter.qualifier == nil { .unknownBean } else { .missingQualifier }
    let found = hints.map(\.text).joined() + (hasHints ? hint(forNamesake: type, in: below) : "")
    return (
      found.isEmpty ? hint(forSeed: type) : found,
      hints.first { !$0.text.isEmpty }?.cause ?? usual
    )
  }

  /// Returns a hint at the seed of this environment, for a type that may have been meant as that of the seed: a value, or a
  /// class of nearly the same name.
  private func hint(forSeed type: Any.Type) -> String {
    guard let seed = beans.first, seed.isSeed else { return "" }
    if type is AnyObject.Type, !EditDistance.isSmall("\(type)", "\(seed.type)") { return "" }
    return "; its seed is \(seed.type) (childFactory at \(seed.location.origin))"
  }

  /// Returns a hint at a bean of the parameter's type that has no id, for a lookup by an id that no bean has.
  func hint(forNameless parameter: Parameter, from module: ObjectIdentifier?) -> String {
    let criteria = parameter.criteria(from: module)
    for (directory, numbers) in levels(with: parameter.element, nil) {
      let found = numbers.map { directory.beans[Int($0)] }.first { $0.id == nil && !$0.isSeed && $0.meets(criteria) }
      if let found { return "; a \(found.label) without an id is declared at \(found.location.origin)" }
    }
    return ""
  }

  private func hint(forPrivate type: Any.Type) -> String {
    let found = chain.filter(\.directory.hasPrivateBeans).flatMap { directory, _ in
      directory.candidates(for: type).map { directory.beans[Int($0)] }.filter { $0.privateTo != nil }
    }
    return found.first.map { "; a \($0.label) is declared at \($0.location.origin), and private there" } ?? ""
  }

  private func hint(forTemplate type: Any.Type) -> String {
    let found = chain.flatMap(\.directory.unbuilt.values).filter { unbuilt in
      unbuilt.isAbstract && unbuilt.type.map { $0 == type || TypeRelation.isUsable($0, as: type) } == true
    }
    guard let first = found.min(by: { $0.id ?? "" < $1.id ?? "" }), let id = first.id else { return "" }
    return "; '\(id)' is a template of that type (\(first.location.origin)), from which no bean inherits"
  }

  /// Returns a hint at a bean of another type with the same name: types of two modules may share a name.
  private func hint(forNamesake type: Any.Type, in below: ArraySlice<BeanDirectory>) -> String {
    let name = "\(type)"
    for directory in chain.map(\.directory) + below {
      for bean in directory.beans where bean.type != type && "\(bean.type)" == name {
        return "; \(String(reflecting: bean.type)) (\(bean.location.origin)) is another type than "
          + String(reflecting: type)
      }
    }
    return ""
  }

  /// Returns the error for an id that no bean has.
  ///
  /// - Parameters:
  ///   - id: the id of the lookup.
  ///   - inactive: the hint at inactive declarations that have the id.
  ///   - hasHints: whether to search for a similar id, which costs a walk over all ids.
  func unknownId(_ id: String, _ inactive: String, hasHints: Bool = true) -> EnvironmentError {
    var message = "no bean has the id '\(id)'\(inactive)"
    if hasHints { message += Self.hint(forId: id, among: visibleIds) }
    return EnvironmentError(
      cause: inactive.isEmpty ? .unknownId : .inactiveBean, message, path: ["'\(id)'"])
  }

  /// The ids here and further out.
  var visibleIds: [BeanId] { chain.flatMap { Array($0.directory.ids.keys) } }

  /// Returns "; did you mean …" for an id that is similar to one of several others.
  static func hint(forId id: String, among others: [BeanId]) -> String {
    let names = others.filter { !$0.isPrivate }.map(\.text)
    guard let near = names.filter({ EditDistance.isSmall($0, id) }).min() else { return "" }
    return "; did you mean '\(near)'?"
  }
}

/// The text "Card, not a Payment"; full names are used where the short ones are equal.
struct TypeMismatch: CustomStringConvertible {
  let description: String

  init(_ type: Any.Type, _ other: Any.Type) {
    var (found, wanted) = ("\(type)", "\(other)")
    if found == wanted { (found, wanted) = (String(reflecting: type), String(reflecting: other)) }
    description = "\(found), not a \(wanted)"
  }
}
