import BeansErrors

/// The replacement of the placeholders in one text, through all values to which they lead.
struct PlaceholderTrace {
  /// The scope in which keys are searched.
  let scope: String
  /// Whether faults contain near misses, which cost a walk over all keys.
  let hints: Bool
  /// The values whose placeholders are being replaced, from the outermost inwards.
  private var values: [StoredValue] = []
  /// The number of values with placeholders so far.
  private var count = 0
  /// Whether the result contains a secret.
  var isSecret = false

  private static let deepest = 64
  private static let maximumCount = 10_000

  init(scope: String = "", hints: Bool = true) {
    self.scope = scope
    self.hints = hints
  }

  /// Enters a value whose placeholders are replaced next.
  ///
  /// - Throws: `.cyclicDependency` for a value that has been entered; `.invalidDeclaration` beyond a limit.
  mutating func enter(_ value: StoredValue) throws(EnvironmentError) {
    if let first = values.firstIndex(where: { $0 === value }) {
      let circle = (values[first...] + [value]).map { "\($0.item.qualifiedKey)" }
      throw EnvironmentError(
        cause: .circleOfPlaceholders,
        "the placeholders of configuration values lead back to the first: \(circle.joined(separator: " → "))",
        path: circle.map { "'\($0)'" }, origin: value.origin)
    }
    count += 1
    guard values.count < Self.deepest, count <= Self.maximumCount else {
      throw EnvironmentError(
        cause: .malformedPlaceholder,
        "its placeholders lead to too many values: at most \(Self.deepest) in a row, and \(Self.maximumCount) in all")
    }
    values.append(value)
  }

  mutating func leave() { values.removeLast() }
}

extension ConfigurationManager {
  /// Returns the content of a value with its placeholders replaced: of a text, of the texts in an array, and of the
  /// values in a dictionary. A number has its spelling where the type needs it.
  ///
  /// - Throws: `.unresolvedPlaceholder`, `.cyclicDependency`, `.invalidDeclaration` for malformed text, `.noConversion`
  ///   or `.conversionFailed` for a value without a text form; the message names the value with the placeholder.
  func content(
    of value: StoredValue, for type: Any.Type, _ trace: inout PlaceholderTrace
  ) throws(EnvironmentError) -> any Sendable {
    if isSecret(value) { trace.isSecret = true }
    guard value.hasPlaceholders else { return content(of: value.item, for: type) }
    try trace.enter(value)
    defer { trace.leave() }
    do throws(EnvironmentError) {
      if let text = value.item.value as? String { return try replace(in: text, &trace) }
      if let list = value.item.value as? [String] {
        var result: [String] = []
        for text in list { result.append(try replace(in: text, &trace)) }
        return result
      }
      var result: [String: String] = [:]
      for (key, text) in value.item.value as? [String: String] ?? [:] { result[key] = try replace(in: text, &trace) }
      return result
    } catch { throw value.names(error) ? error : value.naming(error) }
  }

  /// Returns the value of an item to be converted, without a replacement of placeholders.
  func content(of item: ConfigurationItem, for type: Any.Type) -> any Sendable {
    conversions.choose(item.value, spelled: item.spelled, for: type)
  }

  private func replace(in text: String, _ trace: inout PlaceholderTrace) throws(EnvironmentError) -> String {
    try replace(PlaceholderText(text, isSecret: trace.isSecret), &trace)
  }

  /// Returns a text with its placeholders replaced.
  func replace(_ text: PlaceholderText, _ trace: inout PlaceholderTrace) throws(EnvironmentError) -> String {
    let hints = trace.hints
    return try text.resolve(
      find: { key throws(EnvironmentError) in try self.text(of: key, &trace) },
      missing: { missing($0, scope: "", .unresolvedPlaceholder, hints: hints) })
  }

  /// Returns the value of a key as text; nil if there is none.
  private func text(of key: QualifiedKey, _ trace: inout PlaceholderTrace) throws(EnvironmentError) -> String? {
    guard let value = find(key, scope: trace.scope) else { return nil }
    if !value.hasPlaceholders {
      if isSecret(value) { trace.isSecret = true }
      return try read(value, as: String.self, scope: trace.scope)
    }
    let content = try content(of: value, for: String.self, &trace)
    if let text = content as? String { return text }
    return try convert(content, of: value, to: String.self, isSecret: trace.isSecret) as? String
  }
}
