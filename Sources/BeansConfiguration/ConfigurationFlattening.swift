import BeansErrors

/// The flattening of a tree to configuration items.
///
/// Objects within objects become dotted keys: `{"server": {"port": 80}}` is `server.port`. A key of the outermost
/// object may begin with a namespace: `{"shop:mail": {"host": "…"}}` is `mail.host` in `shop`. An array of scalars of
/// one type is one value; the elements of any other array have indexed keys, as in `servers.0.host`, beside an item for the
/// list. A null takes back the value of an earlier source. The recursion is safe, because parsers limit the depth of trees.
struct ConfigurationFlattening {
  /// The maximum sum of the lengths of all keys, in bytes. A long key above many values would multiply a small file.
  private static let maximumKeyBytes = 64 * 1024 * 1024
  /// The maximum number of faults that an error lists.
  private static let maximumFaults = 100

  private let file: ConfigurationFile
  private(set) var items: [ConfigurationItem] = []
  /// The first faults, in the order of the file.
  private(set) var faults: [EnvironmentError] = []
  private(set) var faultCount = 0
  /// The lines of the keys so far, the first one of each.
  private var lines: [QualifiedKey: Int?] = [:]
  private var keyBytes = 0

  init(_ root: ConfigurationTree, of file: ConfigurationFile) {
    self.file = file
    guard case .object(let entries) = root.content else {
      report("the outermost value must be an object with keys", root.line)
      return
    }
    for entry in unique(entries, below: nil) { add(QualifiedKey(entry.key), entry.value, entry.line) }
  }

  private mutating func add(_ key: QualifiedKey, _ value: ConfigurationTree, _ line: Int?) {
    if key.key.isEmpty || key.key.hasSuffix(".") { return report("the key \(shown(key)) is empty", line) }
    switch value.content {
    case .object(let entries):
      for entry in unique(entries, below: key) { add(key.appending(entry.key), entry.value, entry.line) }
    case .array(let elements): add(key, elements, line)
    case .scalar(let scalar): append(key, line) { Self.item($0, $1, scalar, $2) }
    case .null: append(key, line) { .absent(namespace: $0, key: $1, line: $2) }
    case .invalid(let reason): report("\(shown(key)) \(reason)", line)
    }
  }

  private mutating func add(_ key: QualifiedKey, _ elements: [ConfigurationTree], _ line: Int?) {
    if let list = Self.list(elements) {
      return append(key, line) { .init(namespace: $0, key: $1, value: list.value, line: $2).spelled(as: list.spelled) }
    }
    append(key, line) { .list(namespace: $0, key: $1, count: elements.count, line: $2) }
    for (index, element) in elements.enumerated() {
      let key = key.appending("\(index)")
      switch element.content {
      case .null: report("\(shown(key)) is null: leave the element out of the array", element.line)
      // The element would vanish, and the list lack its index.
      case .object(let entries) where entries.isEmpty:
        report("\(shown(key)) is an object without keys: leave the element out of the array", element.line)
      default: add(key, element, element.line)
      }
    }
  }

  private mutating func append(
    _ key: QualifiedKey, _ line: Int?, _ make: (String, String, Int?) -> ConfigurationItem
  ) {
    keyBytes += key.namespace.utf8.count + key.key.utf8.count
    guard keyBytes <= Self.maximumKeyBytes else {
      // Reported once: the sum exceeds the limit for all keys that follow.
      if keyBytes < .max / 2 { report("its keys have more than \(Self.maximumKeyBytes) bytes in total", line) }
      keyBytes = .max / 2
      return
    }
    if let first = lines[key] { return reportRepeated(key, first, line) }
    lines.updateValue(line, forKey: key)
    items.append(make(key.namespace, key.key, line))
  }

  /// Returns the entries without those whose key has occurred before in the same object, which are faults.
  private mutating func unique(
    _ entries: [ConfigurationTree.Entry], below parent: QualifiedKey?
  ) -> [ConfigurationTree.Entry] {
    var first: [String: Int?] = [:]
    return entries.filter { entry in
      guard let line = first[entry.key] else {
        first.updateValue(entry.line, forKey: entry.key)
        return true
      }
      reportRepeated(parent?.appending(entry.key) ?? QualifiedKey(entry.key), line, entry.line)
      return false
    }
  }

  private mutating func reportRepeated(_ key: QualifiedKey, _ first: Int?, _ second: Int?) {
    let places =
      switch (first, second) {
      case (let first?, let second?) where first != second: ", in line \(first) and in line \(second)"
      case (let first?, _): ", both times in line \(first)"
      default: ""
      }
    report("the key \(shown(key)) is given twice\(places): remove one of the two", second)
  }

  private mutating func report(_ reason: String, _ line: Int?) {
    faultCount += 1
    if faults.count < Self.maximumFaults { faults.append(file.fault(reason, line: line ?? 1)) }
  }

  /// Returns a key for a message, cut to a readable length.
  private func shown(_ key: QualifiedKey) -> String {
    let text = "\(key)"
    return text.utf8.count > 200 ? "'\(text.prefix(100))…'" : "'\(text)'"
  }

  private static func item(_ namespace: String, _ key: String, _ scalar: any Sendable, _ line: Int?)
    -> ConfigurationItem
  {
    let number = scalar as? any SpelledValue
    return ConfigurationItem(namespace: namespace, key: key, value: number?.anyNumber ?? scalar, line: line)
      .spelled(as: number)
  }

  /// Returns an array of one type, and its numbers with their spellings; nil for any other array. Whole and other numbers
  /// together become `Double`; an empty array is a list of texts.
  private static func list(_ elements: [ConfigurationTree]) -> (value: any Sendable, spelled: (any Sendable)?)? {
    var scalars: [any Sendable] = []
    for element in elements {
      guard case .scalar(let scalar) = element.content else { return nil }
      scalars.append(scalar)
    }
    if let texts = scalars as? [String] { return (texts, nil) }
    if let truths = scalars as? [Bool] { return (truths, nil) }
    if let numbers = scalars as? [SpelledNumber<Int>] { return (numbers.map(\.number), numbers) }
    if let numbers = scalars as? [SpelledNumber<UInt64>] { return (numbers.map(\.number), numbers) }
    let numbers = scalars.compactMap { scalar -> SpelledNumber<Double>? in
      let whole = (scalar as? SpelledNumber<Int>).map { SpelledNumber(Double($0.number), $0.spelling) }
      return scalar as? SpelledNumber<Double> ?? whole
    }
    if numbers.count == scalars.count { return (numbers.map(\.number), numbers) }
    return plainList(scalars).map { ($0, nil) }
  }

  /// Returns an array of numbers without spellings, of a format whose parser does not keep them.
  private static func plainList(_ scalars: [any Sendable]) -> (any Sendable)? {
    if let numbers = scalars as? [Int] { return numbers }
    if let numbers = scalars as? [UInt64] { return numbers }
    let numbers = scalars.compactMap { ($0 as? Double) ?? ($0 as? Int).map { Double($0) } }
    return numbers.count == scalars.count ? numbers : nil
  }
}

extension QualifiedKey {
  fileprivate func appending(_ part: String) -> QualifiedKey {
    QualifiedKey(namespace: namespace, key: "\(key).\(part)")
  }
}
