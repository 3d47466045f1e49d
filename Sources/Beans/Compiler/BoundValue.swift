import BeansConfiguration
import BeansReflection

/// A value that a declaration gives: found, and of the wanted type, once startup has bound it.
final class BoundValue {
  enum Given {
    /// As it is, or as something that converts.
    case value(Any)
    /// With placeholders.
    case text(String)
    /// What the configuration has for a key.
    case configuration(InjectConfigurationValue)
    /// A collection of others, which are bound before it.
    case parts([BoundValue], any CollectionType.Type)
  }

  private let given: Given
  let parameter: Parameter
  /// How faults name what the value is for.
  private let point: String
  /// Where faults of the value stand; nil for where the bean is declared.
  let origin: EnvironmentError.Origin?
  /// nil until bound.
  private(set) var object: AnyObject?
  /// Where operands find it, once the graph is compiled.
  var place: Slot?

  init(_ given: Given, for parameter: Parameter, at point: String, _ origin: EnvironmentError.Origin?) {
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
    case .text, .configuration: true
    case .parts(let parts, _): parts.contains { $0.isText }
    }
  }

  /// Converts the value, with its placeholders replaced. Runs conversions that users have registered.
  func bind(in configuration: ConfigurationManager, hints: Bool) throws(EnvironmentError) {
    guard object == nil else { return }
    do throws(EnvironmentError) {
      guard let value = try find(in: configuration, hints: hints) else { return }
      object = parameter.given(value)
      if object == nil {
        throw EnvironmentError(.typeMismatch, "\(type(of: value)) is not a \(parameter.wanted)")
      }
    } catch {
      let named = error.saying("\(point): \(error.message)\(hint)")
      throw error.code == .conversionFailed && !hint.isEmpty ? named.because(of: .unresolvedText) : named
    }
  }

  /// What to say where a value that does not convert looks like text with placeholders.
  private var hint: String {
    guard case .value(let value) = given, let text = value as? String, text.contains("${") else { return "" }
    return "; a value is taken as it is: give it as 'resolve:' to have placeholders replaced"
  }

  /// nil where a part is at fault, which has been reported by itself.
  private func find(in configuration: ConfigurationManager, hints: Bool) throws(EnvironmentError) -> Any? {
    switch given {
    case .value(let value): return try configuration.convert(value, to: parameter.wanted)
    case .text(let text): return try configuration.resolve(text, as: parameter.wanted, hints: hints)
    case .configuration(let inject): return try configuration.value(parameter.wanted, for: inject)
    case .parts(let parts, let type):
      let values = parts.compactMap { $0.object.map { Box.open($0) } }
      guard values.count == parts.count else { return nil }
      if let value = type.assemble(values) { return value }
      throw EnvironmentError(cause: .repeatedKey, "two entries have the same key")
    }
  }

  /// The fault of text that no configuration could make right.
  func checkText() throws(EnvironmentError) {
    guard case .text(let text) = given else { return }
    do throws(EnvironmentError) { _ = try PlaceholderText(text) } catch {
      throw error.saying("\(point): \(error.message)")
    }
  }

  /// Puts the value where operands find it.
  func publish() {
    guard let object, let place, place.content.isEmpty else { return }
    place.store(.filled(ObjectReference(object)))
  }
}
