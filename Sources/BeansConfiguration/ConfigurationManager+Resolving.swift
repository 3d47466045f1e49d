package import BeansReflection
package import BeansErrors

// Resolves values of declarations, given as text or as values of another type. The compiler calls these functions at
// startup.
extension ConfigurationManager {
  /// Returns the text with its placeholders replaced.
  ///
  /// - Parameters:
  ///   - text: the text with placeholders.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: `.unresolvedPlaceholder`; `.invalidDeclaration` for malformed text; `.noConversion` or
  ///   `.conversionFailed` for a value without a text form.
  public func resolve(_ text: String, file: StaticString = #fileID, line: UInt = #line) throws -> String {
    var trace = PlaceholderTrace()
    do throws(EnvironmentError) { return try snapshot().replace(PlaceholderText(text), &trace) } catch {
      throw error.met(by: .init(file, line))
    }
  }

  /// Returns the text with its placeholders replaced, converted to a type.
  package func resolve(_ text: String, as type: Any.Type, hints: Bool = true) throws(EnvironmentError) -> Any {
    let parsed = try PlaceholderText(text)
    if let type = Self.readAtUse(type) {
      return try type.make(of: self, "'\(text)'") { manager, type throws(EnvironmentError) in
        try manager.snapshot().resolve(text, as: type, hints: false)
      }
    }
    var trace = PlaceholderTrace(hints: hints)
    // The value of a sole placeholder needs no text form, and loses nothing in a conversion to text.
    if let key = parsed.soleKey {
      let key = QualifiedKey(try replace(key, &trace).trimmed)
      if let found = try collection(type, key, scope: "") { return try convert(found, to: type) }
      if let value = find(key, scope: ""),
        conversions.hasConversion(Swift.type(of: value.item.value), targetType: type)
      {
        let content = try content(of: value, for: type, &trace)
        return try convert(content, of: value, to: type, isSecret: trace.isSecret)
      }
    }
    let result = try snapshot().replace(parsed, &trace)
    do throws(EnvironmentError) { return try convert(result, to: type) } catch {
      if !trace.isSecret || error.code == .noConversion { throw error }
      throw EnvironmentError(cause: error.cause, ConversionFailure.ofSecret(String.self, to: type))
    }
  }

  /// Returns a value converted to a type.
  package func convert(_ value: Any, to type: Any.Type) throws(EnvironmentError) -> Any {
    try conversions.convert(value, targetType: type)
  }

  /// Returns the configuration value converted to a type; nil if there is none.
  func value(_ type: Any.Type, namespace: String, key: String, scope: String = "") throws(EnvironmentError)
    -> Any?
  {
    let key = QualifiedKey(namespace: namespace, key: key)
    if let found = try collection(type, key, scope: scope) { return try convert(found, to: type) }
    guard let value = find(key, scope: scope) else { return nil }
    var trace = PlaceholderTrace(scope: scope)
    let content = try content(of: value, for: type, &trace)
    return try convert(content, of: value, to: type, isSecret: trace.isSecret)
  }

  /// Returns the value for a class-level injection. For an optional type, returns nil if there is neither a value nor a
  /// default.
  package func value(_ type: Any.Type, for request: ConfigurationRequest) throws(EnvironmentError) -> Any {
    if let type = Self.readAtUse(type) {
      return try type.make(of: self, "'\(request.key)'") { manager, type throws(EnvironmentError) in
        try manager.value(type, for: request)
      }
    }
    if let value = try value(type, namespace: request.namespace, key: request.key) { return value }
    if let value = request.defaultValue { return try convert(value, to: type) }
    if let optional = type as? any OptionalConversion.Type { return optional.absent }
    throw missing(QualifiedKey(namespace: request.namespace, key: request.key), scope: "", .missingConfiguration)
  }
}
