@_spi(BeansPackage) import BeansErrors

/// The keys whose values are secrets: those that are marked, and those whose names say so.
enum SecretKeys {
  /// The text that reports show instead of a secret.
  static let mask = "******"

  private static let words: Set = [
    "password", "passwords", "passwd", "passphrase", "secret", "secrets", "token", "credential", "credentials",
    "apikey",
  ]
  private static let pairs: Set = [
    "api key", "access key", "private key", "secret key", "signing key", "encryption key",
  ]

  /// Whether a key ends with a word for a secret: `db.password`, `API_KEY`, `jwtSecret`.
  static func isNamed(_ key: String) -> Bool {
    let last = KeyWords.split(key, atCase: true).suffix(2).map { $0.lowercased() }
    return last.last.map(words.contains) == true || pairs.contains(last.joined(separator: " "))
  }

  /// Whether a value belongs to a marked key, or to a key below it.
  static func covers(_ marked: QualifiedKey, _ value: StoredValue) -> Bool {
    let (key, spelling) = (value.item.qualifiedKey, value.spelling)
    if key.namespace == marked.namespace, key.key == marked.key || key.key.hasPrefix("\(marked.key).") { return true }
    if spelling.isExact { return false }
    let name = "\(key)"
    return spelling.names(of: marked).contains(name) || spelling.beginnings(of: marked).contains { name.hasPrefix($0) }
  }
}

extension ConfigurationManager {
  /// Marks the value of a key, and all values of keys below it, as secrets, here and in managers whose parent this is.
  ///
  /// Reports, faults and logs never contain a secret, nor a text into which a placeholder has brought one. Without a
  /// mark, these values are secrets: those that their source or its item marks, and those of keys that end with a word
  /// such as `password`, `secret`, `token`, `credentials`, `apiKey` or `privateKey`. Readers get all of them.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key; `db` marks `db.user`, too.
  public func markSecret(namespace: String = "", key: String) {
    state.withLock { _ = $0.secrets.insert(QualifiedKey(namespace: namespace, key: key)) }
  }

  /// Whether the value must not be shown.
  func isSecret(_ value: StoredValue) -> Bool {
    value.isSecret
      || chain.contains { manager in
        manager.state.withLock { state in state.secrets.contains { SecretKeys.covers($0, value) } }
      }
  }

  /// Returns a value as reports show it: masked if it is a secret.
  func shown(_ value: StoredValue) -> String {
    if let summary = value.item.summary { return summary }
    return isSecret(value) ? SecretKeys.mask : ConversionFailure.quote(value.item.spelled ?? value.item.value)
  }

  /// Whether a value of that key would be a secret, for code that shows values before they are added.
  package static func isSecret(key: String) -> Bool { SecretKeys.isNamed(key) }
}
