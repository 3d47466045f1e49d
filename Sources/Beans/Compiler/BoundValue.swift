import BeansConfiguration
import BeansReflection

/// A value in a declaration. Startup binds the value: finds it and converts it to the wanted type.
final class BoundValue {
  enum Given {
    /// A value that is used unchanged or converted.
    case value(Any)
    /// A text with placeholders.
    case text(String)
    /// The value of a key in the configuration.
    case configuration(InjectConfigurationValue)
    /// A section of the configuration.
    case section(ConfigurationSection)
    /// A collection of values, each of which is bound before it.
    case parts([BoundValue], any CollectionType.Type)
  }

  private let given: Given
  let parameter: Parameter
  /// The name in faults of the parameter or property that takes the value.
  private let point: InjectionPoint
  /// The location of the value's faults; nil for the location of the bean's declaration.
  let origin: EnvironmentError.Origin?
  /// The bound value; nil before it is bound.
  private(set) var object: AnyObject?
  /// The place from which operands read the value; set when the graph is compiled.
  var place: Slot?

  init(_ given: Given, for parameter: Parameter, at point: InjectionPoint, _ origin: EnvironmentError.Origin?) {
    self.given = given
    self.parameter = parameter
    self.point = point
    self.origin = origin
    if case .value(let value) = given { object = parameter.given(value) }
  }

  /// Whether the value depends on the configuration, and so on sources that may have to be built first.
  var isText: Bool {
    switch given {
    case .value: false
    case .text, .configuration, .section: true
    case .parts(let parts, _): parts.contains { $0.isText }
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
      throw error.code == .conversionFailed && !hint.isEmpty ? named.because(of: .unresolvedText) : named
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
    case .configuration(let inject): return try configuration.value(parameter.wanted, for: inject)
    case .section(let section):
      return try configuration.section(
        parameter.wanted, prefix: section.prefix, rejectsUnknownKeys: section.rejectsUnknownKeys)
    case .parts(let parts, let type):
      let values = parts.compactMap { $0.object.map { Box.open($0) } }
      guard values.count == parts.count else { return nil }
      if let value = type.assemble(values) { return value }
      throw EnvironmentError(cause: .repeatedKey, "two entries have the same key")
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
