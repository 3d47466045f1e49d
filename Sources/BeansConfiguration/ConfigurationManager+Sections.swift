@_spi(BeansPackage) package import BeansErrors

extension ConfigurationManager {
  /// Returns the section below a prefix as a type.
  ///
  /// Each stored property is a key below the prefix: `port` of the section `mail` is `mail.port`, or `MAIL_PORT` among
  /// environment variables. Properties are of any type to which a value converts, optionals (nil if there is no value),
  /// arrays and sets (of a text with commas, or of elements `mail.hosts.0`, `mail.hosts.1`), dictionaries of the keys
  /// below, and other `Decodable` types, whose sections are nested. Placeholders in the values are replaced. A
  /// `ValidatedConfiguration` checks itself.
  ///
  /// - Parameters:
  ///   - type: the type of the section.
  ///   - prefix: the section, `key` or `namespace:key`; empty for all keys without a namespace.
  ///   - rejectsUnknownKeys: whether a value below the prefix that belongs to no property is a fault.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: `.missingConfiguration`, `.conversionFailed`, `.noConversion`, `.unresolvedPlaceholder` or
  ///   `.cyclicDependency` for a missing or faulty value, `.invalidDeclaration` for an unknown key; several faults as one
  ///   error with all of them in `underlying`, whose code is theirs if they share it, else `.conversionFailed`.
  /// - Complexity: a walk over all keys, and the conversion of each value; keep the result.
  public func getConfiguration<T: Decodable>(
    _ type: T.Type, prefix: String = "", rejectsUnknownKeys: Bool = false, file: StaticString = #fileID,
    line: UInt = #line
  ) throws -> T {
    do throws(EnvironmentError) {
      let section = try section(type, prefix: prefix, rejectsUnknownKeys: rejectsUnknownKeys)
      if let section = section as? T { return section }
      throw EnvironmentError(.typeMismatch, "section '\(prefix)' is not a \(type)", path: ["'\(prefix)'"])
    } catch { throw error.read(at: .init(file, line)) }
  }

  /// Returns the section below a prefix as a type that is known only at startup.
  ///
  /// - Throws: as `getConfiguration`.
  package func section(
    _ type: Any.Type, prefix: String, rejectsUnknownKeys: Bool
  ) throws(EnvironmentError) -> Any {
    if let type = Self.readAtUse(type) {
      return try type.make(of: self, "section '\(prefix)'") { manager, type throws(EnvironmentError) in
        try manager.section(type, prefix: prefix, rejectsUnknownKeys: rejectsUnknownKeys)
      }
    }
    return try snapshot().read(QualifiedKey(section: prefix), as: type, rejectsUnknownKeys: rejectsUnknownKeys)
  }

  private func read(
    _ key: QualifiedKey, as type: Any.Type, rejectsUnknownKeys: Bool
  ) throws(EnvironmentError) -> Any {
    let first = SectionReader(self, scope: "", collects: false)
    var faults: [EnvironmentError]
    if case .value(let value) = first.read(type, at: key) {
      faults = rejectsUnknownKeys ? first.unknownKeys(in: key, as: type) : []
      if faults.isEmpty { return value }
    } else {
      let second = SectionReader(self, scope: "", collects: true)
      if case .absent = second.read(type, at: key) {
        faults = [EnvironmentError(cause: .missingConfiguration, "no configuration value below '\(key)'")]
      } else {
        faults = second.faults(in: key)
        // A type that was only faulty at the first time.
        if faults.isEmpty { faults = first.faults(in: key) }
      }
      if rejectsUnknownKeys { faults += second.unknownKeys(in: key, as: type) }
    }
    throw Self.combine(faults, key, type)
  }

  /// Returns a single fault, or one error that holds all: with their code if they share it, else `.conversionFailed`.
  private static func combine(_ faults: [EnvironmentError], _ key: QualifiedKey, _ type: Any.Type) -> EnvironmentError {
    if faults.count == 1, let fault = faults.first { return fault }
    let name = key.isRoot ? "the configuration" : "'\(key)'"
    let (message, steps) = ("\(name) has \(faults.count) faults as \(type)", [EnvironmentError.Step(name)])
    if let code = faults.first?.code, faults.allSatisfy({ $0.code == code }) {
      return EnvironmentError(code, message, steps: steps, origin: nil, underlying: faults)
    }
    return EnvironmentError(cause: .malformedSection, message, steps: steps, origin: nil, underlying: faults)
  }

  /// Returns a list or a dictionary of the keys below a key, or of its value; nil if there are none, or for another
  /// type.
  func collection(_ type: Any.Type, _ key: QualifiedKey, scope: String) throws(EnvironmentError) -> Any? {
    let wrapped = (type as? any OptionalConversion.Type)?.wrappedType ?? type
    guard wrapped is any ListType.Type || wrapped is any DictionaryType.Type else { return nil }
    let reader = SectionReader(snapshot(), scope: scope, collects: true)
    switch reader.read(wrapped, at: key) {
    case .absent: return nil
    case .value(let value): return value
    case .faulty: break
    }
    throw Self.combine(reader.faults(in: key), key, type)
  }

  /// Whether some source here or above may have a key below another one, such as the elements of a list. Costs a walk over
  /// all keys.
  package func mayHaveKeys(below key: String) -> Bool {
    let key = QualifiedKey(namespace: "", key: key)
    return chain.contains { manager in
      manager.state.withLock { state in
        !state.store.spellings.isEmpty || !state.store.asked.isEmpty
          || state.store.layers.keys.contains { $0.key.rest(below: key) != nil }
      }
    }
  }

  /// Whether a value has precedence over another one by its manager or its source.
  func isLater(_ value: StoredValue, than other: StoredValue) -> Bool {
    for manager in chain {
      let (first, second) = (manager.owns(value), manager.owns(other))
      if first && second { return value.rank > other.rank }
      if first || second { return first }
    }
    return false
  }
}

extension EnvironmentError {
  /// Returns the fault with the call that read the configuration. It becomes the origin of an error without one, also of
  /// an error that holds several faults.
  func read(at call: Origin) -> EnvironmentError {
    origin == nil ? with { $0.origin = call } : met(by: call)
  }
}

extension QualifiedKey {
  /// Parses a section: `key`, `namespace:key`, `namespace:`, or empty for all keys without a namespace.
  init(section text: String) { self.init(text.hasSuffix(".") ? String(text.dropLast()) : text) }
}
