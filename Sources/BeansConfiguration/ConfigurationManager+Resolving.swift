package import BeansReflection
package import BeansErrors

// What declarations give as text or as values of another type; the compiler asks here, at startup.
extension ConfigurationManager {
  /// The text with its placeholders replaced.
  ///
  /// - Parameters:
  ///   - text: has the placeholders.
  ///   - file: where it is resolved, as errors say it.
  ///   - line: where in the file.
  /// - Throws: `.unresolvedPlaceholder`; `.invalidDeclaration` for text that is malformed; `.noConversion` or
  ///   `.conversionFailed` for a value that has no text.
  public func resolve(_ text: String, file: StaticString = #fileID, line: UInt = #line) throws -> String {
    do throws(EnvironmentError) { return try resolve(PlaceholderText(text), hints: true) } catch {
      throw error.met(by: .init(file, line))
    }
  }

  /// The text with its placeholders replaced, as a value of that type.
  package func resolve(_ text: String, as type: Any.Type, hints: Bool = true) throws(EnvironmentError) -> Any {
    let parsed = try PlaceholderText(text)
    // A value that stands for itself need not have a text, nor lose anything on the way through one.
    if let key = parsed.soleKey {
      let key = QualifiedKey(TextConversion.trim(try resolve(key, hints: hints)))
      if let value = find(key, scope: ""),
        conversions.hasConversion(Swift.type(of: value.item.value), targetType: type)
      {
        return try convert(value, to: type)
      }
    }
    return try convert(resolve(parsed, hints: hints), to: type)
  }

  /// A value as a value of that type.
  package func convert(_ value: Any, to type: Any.Type) throws(EnvironmentError) -> Any {
    try conversions.convert(value, targetType: type)
  }

  /// The configuration value as a value of that type; nil where there is none.
  func value(_ type: Any.Type, namespace: String, key: String, scope: String = "") throws(EnvironmentError)
    -> Any?
  {
    guard let value = find(QualifiedKey(namespace: namespace, key: key), scope: scope) else { return nil }
    return try convert(value, to: type)
  }

  /// What a class-level injection asks for. An optional type is nil where there is neither a value nor a default.
  package func value(_ type: Any.Type, for inject: InjectConfigurationValue) throws(EnvironmentError) -> Any {
    if let value = try value(type, namespace: inject.namespace, key: inject.key) { return value }
    if let value = inject.defaultValue { return try convert(value, to: type) }
    if let optional = type as? any OptionalConversion.Type { return optional.absent }
    throw missing(QualifiedKey(namespace: inject.namespace, key: inject.key), scope: "", .missingConfiguration)
  }

  private func resolve(_ text: PlaceholderText, hints: Bool) throws(EnvironmentError) -> String {
    try text.resolve(
      find: { key throws(EnvironmentError) in
        guard let value = find(key, scope: "") else { return nil }
        return try read(value, as: String.self)
      },
      missing: { missing($0, scope: "", .unresolvedPlaceholder, hints: hints) })
  }
}
