import BeansConfiguration
import BeansReflection

/// The value that a declaration gives for one parameter, property or element. Startup binds the value: finds it and
/// converts it to the wanted type; or resolves it, if it needs a bean.
final class BoundValue {
  enum Given {
    /// A value that is used unchanged or converted.
    case value(Any)
    /// A text with placeholders.
    case text(String)
    /// The value of a key in the configuration.
    indirect case configuration(ConfigurationRequest)
    /// A section of the configuration.
    case section(ConfigurationSection)
    /// A collection of values: elements, or keys and elements alternately.
    case parts([BoundValue], any CollectionType.Type)
    /// The bean with an id, or the bean of the wanted type.
    case bean(id: String?)
    case declaration(BeanDeclaration)
    /// A value that does not fit, in words.
    case unfit(FaultCause, String)
  }

  let given: Given
  let parameter: Parameter
  /// The name in faults of the parameter or property that takes the value.
  let point: InjectionPoint
  /// The location of the value's faults; nil for the location of the bean's declaration.
  let origin: EnvironmentError.Origin?
  /// Whether a bean is the value or a part of it, or the value does not fit.
  let needsBean: Bool
  /// The bound value; nil before it is bound.
  private(set) var object: AnyObject?
  /// The place from which operands read the value; set when the graph is compiled.
  var place: Slot?

  init(_ given: Given, for parameter: Parameter, at point: InjectionPoint, _ origin: EnvironmentError.Origin? = nil) {
    self.given = given
    self.parameter = parameter
    self.point = point
    self.origin = origin
    needsBean =
      switch given {
      case .value, .text, .configuration, .section: false
      case .parts(let parts, _): parts.contains { $0.needsBean }
      case .bean, .declaration, .unfit: true
      }
    if case .value(let value) = given { object = parameter.given(value) }
  }

  /// Returns the bound form of a value. Adds it to `values`, after its parts, if it needs no bean. Faults are located at
  /// `origin`, if given.
  static func bind(
    _ value: BeanValue, as parameter: Parameter, at point: InjectionPoint, origin: EnvironmentError.Origin? = nil,
    _ values: inout [BoundValue]
  ) -> BoundValue {
    let given: Given
    switch value {
    case .declared(let value, let origin): return bind(value, as: parameter, at: point, origin: origin, &values)
    case .merged(let value): return bind(value, as: parameter, at: point, origin: origin, &values)
    case .reference(let id): given = .bean(id: id)
    case .byType: given = .bean(id: nil)
    case .bean(let declaration): given = .declaration(declaration)
    // Compared first, because a cast of each value is slow.
    case .value(let value) where type(of: value) == ConfigurationSection.self:
      given = (value as? ConfigurationSection).map { .section($0) } ?? .value(value)
    case .value(let value): given = .value(value)
    case .text(let text): given = .text(text)
    case .id(let id): given = .value(id)
    case .null:
      let null = Any?.none as Any
      given = if parameter.given(null) == nil { .unfit(.nilValue, "nil") } else { .value(null) }
    case .list(let elements):
      guard let type = parameter.wanted as? any CollectionType.Type, elements.isEmpty || type.key == nil else {
        given = .unfit(.noCollection, "a list")
        break
      }
      let element = type.element
      let parts = elements.enumerated().map { index, value in
        bind(value, as: element, at: .element(index, of: point), origin: origin, &values)
      }
      given = .parts(parts, type)
    case .map(let entries):
      guard let type = parameter.wanted as? any CollectionType.Type, entries.isEmpty || type.key != nil else {
        given = .unfit(.noCollection, "a map")
        break
      }
      let (key, element) = (type.key ?? type.element, type.element)
      let parts = entries.enumerated().flatMap { index, entry in
        [
          bind(entry.key, as: key, at: .key(index, of: point), origin: origin, &values),
          bind(entry.value, as: element, at: .element(index, of: point), origin: origin, &values),
        ]
      }
      given = .parts(parts, type)
    }
    let bound = BoundValue(given, for: parameter, at: point, origin)
    if !bound.needsBean { values.append(bound) }
    return bound
  }

  /// Whether the value depends on the configuration, and so on sources that may have to be built first.
  var isText: Bool {
    switch given {
    case .text, .configuration, .section: true
    case .parts(let parts, _): parts.contains { $0.isText }
    case .value, .bean, .declaration, .unfit: false
    }
  }

  /// Converts the value after replacing its placeholders. Runs conversions that users have registered.
  func bind(in configuration: ConfigurationManager, hints: Bool) throws(EnvironmentError) {
    guard object == nil else { return }
    do throws(EnvironmentError) {
      guard let value = try find(in: configuration, hints: hints) else { return }
      object = parameter.given(value)
      if object == nil {
        throw EnvironmentError(.typeMismatch, "\(type(of: value)) is not a \(parameter.wanted)")
      }
    } catch {
      // A section is the whole bean, and its faults name their keys.
      if case .section = given { throw error }
      let named = error.saying("\(point): \(error.message)\(hint)")
      throw if error.code == .conversionFailed && !hint.isEmpty { named.because(of: .unresolvedText) } else { named }
    }
  }

  /// The hint for a value that does not convert and looks like a text with placeholders.
  private var hint: String {
    guard case .value(let value) = given, let text = value as? String, text.contains("${") else { return "" }
    return "; a value is taken as it is: give it as 'resolve:' to have placeholders replaced"
  }

  /// Returns the value to convert; nil if a part has a fault, which is reported separately.
  private func find(in configuration: ConfigurationManager, hints: Bool) throws(EnvironmentError) -> Any? {
    switch given {
    case .value(let value): return try configuration.convert(value, to: parameter.wanted)
    case .text(let text): return try configuration.resolve(text, as: parameter.wanted, hints: hints)
    case .configuration(let request): return try configuration.value(parameter.wanted, for: request)
    case .section(let section):
      return try configuration.section(
        parameter.wanted, prefix: section.prefix, rejectsUnknownKeys: section.rejectsUnknownKeys)
    case .parts(let parts, let type):
      let values = parts.compactMap { $0.object.map { Box.open($0) } }
      guard values.count == parts.count else { return nil }
      if let value = type.assemble(values) { return value }
      throw EnvironmentError(cause: .repeatedKey, "two entries have the same key")
    case .bean, .declaration, .unfit: return nil
    }
  }

  /// Throws if the text is malformed, so that no configuration could resolve it.
  func checkText() throws(EnvironmentError) {
    guard case .text(let text) = given else { return }
    do throws(EnvironmentError) { _ = try PlaceholderText(text) } catch {
      throw error.saying("\(point): \(error.message)")
    }
  }

  /// Stores the value in the place from which operands read it.
  func publish() {
    guard let object, let place, place.content.isEmpty else { return }
    place.store(.filled(ObjectReference(object)))
  }
}
