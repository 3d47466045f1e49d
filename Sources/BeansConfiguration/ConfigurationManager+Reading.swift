@_spi(BeansPackage) import BeansErrors

extension ConfigurationManager {
  /// Whether a value exists here or in a parent.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - scope: a dotted path; a value for "a.b" applies to "a.b.c", too.
  public func hasValue(namespace: String = "", key: String, scope: String = "") -> Bool {
    find(QualifiedKey(namespace: namespace, key: key), scope: scope) != nil
  }

  /// Returns the value as `T`, converted if needed, or the default. For an optional `T`, returns nil if there is
  /// neither.
  ///
  /// - Parameters:
  ///   - type: the target type of the conversion.
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - defaultValue: the result if there is no value.
  ///   - scope: a dotted path; a value for "a.b" applies to "a.b.c", with precedence over one for "a".
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: `.missingConfiguration`; `.noConversion` or `.conversionFailed` for a value that is no `T`.
  public func getValue<T>(
    _ type: T.Type, namespace: String = "", key: String, defaultValue: T? = nil, scope: String = "",
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> T {
    let key = QualifiedKey(namespace: namespace, key: key)
    do throws(EnvironmentError) {
      if let value = find(key, scope: scope, isProbe: true) {
        if _isPOD(type) || type == String.self { return try read(value, as: type, scope: scope) }
        // Later sources may change elements of the list.
        if let found = try collection(type, key, scope: scope) { return try cast(found, of: value) }
        return try read(value, as: type, scope: scope)
      }
      // In two steps: a missing collection would be a value of an optional type.
      if !_isPOD(type), let found = try collection(type, key, scope: scope), let found = found as? T { return found }
      noteMissing(key, scope: scope)
      if let defaultValue { return defaultValue }
      if let optional = type as? any OptionalConversion.Type, let absent = optional.absent as? T { return absent }
      throw missing(key, scope: scope, .missingConfiguration)
    } catch { throw error.read(at: .init(file, line)) }
  }

  fileprivate static let maximumMissed = 1_000

  /// Returns the nearest manager's value for the most specific scope.
  ///
  /// - Parameters:
  ///   - key: the key of the value.
  ///   - scope: the scope of the value.
  ///   - isProbe: whether nothing depends on a missing value; otherwise, reports name the missing key.
  func find(_ key: QualifiedKey, scope: String, isProbe: Bool = false) -> StoredValue? {
    var next: ConfigurationManager? = self
    while let manager = next {
      var (found, asked) = manager.state.withLock { state in
        (state.find(key, scope: scope, isMissed: !isProbe && manager.parent == nil), state.store.asked)
      }
      if !asked.isEmpty {
        for key in key.lists + [key] { manager.ask(asked, for: key, scope: scope) }
        found = manager.state.withLock { $0.find(key, scope: scope) }
      }
      manager.origin?.state.withLock {
        $0.record(found?.value, readAs: key, scope: scope, isMissed: !isProbe && manager.parent == nil)
      }
      if let found { return found.value }
      next = manager.parent
    }
    return nil
  }

  /// Returns the item that decides about a key, here or above. Leaves no trace in reports.
  func decision(_ key: QualifiedKey, scope: String) -> ConfigurationStore.Decision? {
    for manager in chain {
      if let found = manager.state.withLock({ $0.store.find(key, scope: scope) }) { return found }
    }
    return nil
  }

  /// Records a key that was read without a value, for reports.
  func noteMissing(_ key: QualifiedKey, scope: String) { _ = find(key, scope: scope) }

  /// Returns a value as `T`, with its placeholders replaced.
  func read<T>(
    _ value: StoredValue, as type: T.Type, scope: String
  ) throws(EnvironmentError) -> T {
    if value.hasPlaceholders {
      var trace = PlaceholderTrace(scope: scope)
      let content = try snapshot().content(of: value, for: type, &trace)
      if let result = content as? T { return result }
      return try cast(convert(content, of: value, to: type, isSecret: trace.isSecret), of: value)
    }
    if let value = value.item.value as? T { return value }
    // Kept only if all readers convert alike, and if a copy shares nothing with the original.
    let isKept = (_isPOD(type) || type == String.self) && convertsAsOwner(of: value)
    if isKept, let known = value.converted(to: type), let known = known as? T { return known }
    let result: T = try cast(
      convert(
        content(of: value.item, for: type), of: value, to: type, isSecret: isSecret(value)), of: value)
    // Sendable because the value is plain memory, or text.
    if isKept { unsafe value.keep(unsafeBitCast(result as Any, to: (any Sendable).self), as: type) }
    return result
  }

  private func cast<T>(_ result: Any, of value: StoredValue) throws(EnvironmentError) -> T {
    if let result = result as? T { return result }
    throw EnvironmentError(.typeMismatch, "configuration value '\(value.item.qualifiedKey)' is not a \(T.self)")
  }

  /// Returns the content of a value converted to a type that is known only at startup.
  ///
  /// - Parameters:
  ///   - content: the content with its placeholders replaced.
  ///   - value: the value, for faults.
  ///   - type: the target type of the conversion.
  ///   - isSecret: whether the content contains a secret, which faults then leave out.
  func convert(
    _ content: Any, of value: StoredValue, to type: Any.Type, isSecret: @autoclosure () -> Bool
  ) throws(EnvironmentError) -> Any {
    do throws(EnvironmentError) {
      return try conversions.convert(content, targetType: type)
    } catch {
      if error.code == .noConversion || !isSecret() { throw value.naming(error) }
      let message = ConversionFailure.ofSecret(Swift.type(of: content), to: type)
      throw value.naming(error, message: message, underlying: [])
    }
  }

  /// Whether a child that reads an inherited value would convert it in the same way as its owner.
  private func convertsAsOwner(of value: StoredValue) -> Bool {
    var manager = self
    while let parent = manager.parent, !manager.owns(value) { manager = parent }
    return conversions.effective === manager.conversions.effective
  }

  func owns(_ value: StoredValue) -> Bool {
    state.withLock { state in
      state.store.layers[value.address]?.contains { $0 === value } == true
    }
  }

  /// Creates the error for a missing key, with the keys that the reader may have meant.
  func missing(_ key: QualifiedKey, scope: String, _ cause: FaultCause, hints: Bool = true)
    -> EnvironmentError
  {
    let place = scope.isEmpty ? "" : " in scope '\(scope)'"
    let namespace = key.namespace.isEmpty ? "" : " in namespace '\(key.namespace)'"
    let isElsewhere = hints && cause == .missingConfiguration && knownKeys.contains(key)
    return EnvironmentError(
      cause: isElsewhere ? .otherConfigurationScope : cause,
      "no configuration value for key '\(key.key)'\(namespace)\(place), and no default"
        + (hints ? variables(of: key) + (hint(for: key) ?? defaultHint(key, cause)) : ""),
      path: ["'\(key)'"])
  }

  private var knownKeys: Set<QualifiedKey> {
    chain.reduce(into: []) { known, manager in
      let layers = manager.state.withLock { $0.store.layers }
      for (address, stack) in layers where stack.last?.item.isWithoutValue == false { known.insert(address.key) }
    }
  }

  /// The spellings of the sources here and above, other than the exact one.
  private var spellings: Set<KeySpelling> {
    chain.reduce(into: []) { known, manager in known.formUnion(manager.state.withLock { $0.store.spellings.values }) }
  }

  /// Returns a remark on the names of the environment variables that would have the value.
  func variables(of key: QualifiedKey) -> String {
    let names = spellings.filter { $0 != .commandLine }.compactMap { $0.exportedName(of: key) }.sorted()
    return names.isEmpty ? "" : "; its environment variable is \(names.joined(separator: " or "))"
  }

  /// Returns how to write a default, for a placeholder that seems to have one in another notation: `${host:localhost}`.
  private func defaultHint(_ key: QualifiedKey, _ cause: FaultCause) -> String {
    guard cause == .unresolvedPlaceholder, !key.namespace.isEmpty else { return "" }
    return "; the colon ends a namespace, and a default begins with '=': ${\(key.namespace)=\(key.key)}"
  }

  private func hint(for key: QualifiedKey) -> String? {
    let known = knownKeys
    if known.contains(key) { return "; other scopes have one" }
    if let sameKey = known.filter({ $0.key == key.key }).map({ "\($0)" }).min() {
      return "; did you mean '\(sameKey)'?"
    }
    let wanted = ["\(key)"] + spellings.compactMap { $0.names(of: key).first }
    let near = known.map { "\($0)" }.filter { known in wanted.contains { EditDistance.isSmall(known, $0) } }.min()
    return near.map { "; did you mean '\($0)'?" }
  }
}

extension ConfigurationManager.State {
  /// Returns the item that decides about a key, and records the read.
  fileprivate mutating func find(
    _ key: QualifiedKey, scope: String, isMissed: Bool = false
  ) -> ConfigurationStore.Decision? {
    let found = store.find(key, scope: scope)
    record(found?.value, readAs: key, scope: scope, isMissed: isMissed)
    return found
  }

  /// Stores a key that was read without a value, and one under which a value was read if its source has another name for
  /// it.
  fileprivate mutating func record(_ value: StoredValue?, readAs key: QualifiedKey, scope: String, isMissed: Bool) {
    guard let value else {
      if isMissed, missed.count < ConfigurationManager.maximumMissed { missed.insert(.init(key: key, scope: scope)) }
      return
    }
    if value.item.qualifiedKey == key { return }
    guard served[value.address] != nil || served.count < ConfigurationManager.maximumMissed else { return }
    guard served[value.address, default: []].count < ConfigurationManager.maximumMissed else { return }
    served[value.address, default: []].insert(key)
  }
}
