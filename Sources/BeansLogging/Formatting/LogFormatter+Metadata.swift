extension LogFormatter {
  /// The metadata of the entry as `key=value`, separated by blanks; nothing for an entry without metadata.
  ///
  /// A value that is empty, or contains a blank, a quote, `=`, `,` or a brace, is in quotes; a quote or a backslash in it
  /// has a backslash in front.
  ///
  /// - Parameters:
  ///   - prefix: a fixed text in front, for an entry with metadata.
  ///   - suffix: a fixed text behind, for an entry with metadata.
  public static func metadata(prefix: String = "", suffix: String = "") -> LogFormatter {
    LogFormatter(writing: { entry, line in
      if entry.metadata.isEmpty { return }
      line.text += prefix
      for (index, (key, value)) in entry.metadata.enumerated() {
        if index > 0 { line.text += " " }
        line.append(value: quoted(key))
        line.text += "="
        line.append(value: quoted(value))
      }
      line.text += suffix
    })
  }

  /// The value of one key of the metadata; nothing for an entry without that key.
  ///
  /// - Parameters:
  ///   - key: the key, such as "request".
  ///   - prefix: a fixed text in front, for an entry with that key.
  ///   - suffix: a fixed text behind, for an entry with that key.
  public static func metadata(_ key: String, prefix: String = "", suffix: String = "") -> LogFormatter {
    LogFormatter(writing: { entry, line in
      guard let value = entry.metadata[key] else { return }
      line.text += prefix
      line.append(value: value)
      line.text += suffix
    })
  }

  private static func quoted(_ value: String) -> String {
    let special = Set<UInt8>(#" "=,{}\"#.utf8)
    if !value.isEmpty, !value.utf8.contains(where: special.contains) { return value }
    var text = "\""
    for scalar in value.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { text += "\\" }
      text.unicodeScalars.append(scalar)
    }
    return text + "\""
  }
}
