/// Conversions between collections, element by element, and between text with commas and arrays or sets.
enum CollectionConversion {
  static func find(_ source: Any.Type, _ target: Any.Type, elements search: PartSearch) -> Conversion? {
    if let target = target as? any ListType.Type { return find(source, to: target, search) }
    if let source = source as? any DictionaryType.Type, let target = target as? any DictionaryType.Type {
      return find(source, to: target, search)
    }
    guard target == String.self, let source = source as? any ListType.Type, source.isOrdered else { return nil }
    return find(listAsText: source, search)
  }

  private static func find(
    _ source: Any.Type, to target: any ListType.Type, _ search: PartSearch
  ) -> Conversion? {
    let element: Any.Type
    let split: (Any) -> [Any]
    if source == String.self {
      (element, split) = (source, { CommaList.split($0 as? String ?? "") })
    } else if let source = source as? any ListType.Type, source.isOrdered || !target.isOrdered {
      (element, split) = (source.elementType, source.elements)
    } else {
      return nil
    }
    let wanted = target.elementType
    return search(element, wanted).map { convert in
      { value in
        let elements = try split(value).enumerated().map { index, element in
          try ElementFailure.naming("element \(index)", element, wanted) { try convert(element) }
        }
        guard let result = target.make(elements) else { throw ConversionFailure() }
        return result
      }
    }
  }

  private static func find(
    _ source: any DictionaryType.Type, to target: any DictionaryType.Type, _ search: PartSearch
  ) -> Conversion? {
    let (key, element) = (target.keyType, target.elementType)
    guard let convertKey = search(source.keyType, key),
      let convertElement = search(source.elementType, element)
    else { return nil }
    return { value in
      // Sorted, so that faults are the same in each run.
      let entries = source.entries(of: value).map { (name: ConversionFailure.quote($0.key), entry: $0) }
        .sorted { $0.name < $1.name }
      return try target.make(
        entries.map { name, entry in
          (
            try ElementFailure.naming("key \(name)", entry.key, key) { try convertKey(entry.key) },
            try ElementFailure.naming("value of key \(name)", entry.value, element) { try convertElement(entry.value) }
          )
        })
    }
  }

  private static func find(listAsText source: any ListType.Type, _ search: PartSearch) -> Conversion? {
    search(source.elementType, String.self).map { convert in
      { value in
        try source.elements(of: value).enumerated().map { index, element in
          try ElementFailure.naming("element \(index)", element, String.self) { "\(try convert(element))" }
        }.joined(separator: ",")
      }
    }
  }
}

/// Arrays and sets with any elements.
protocol ListType: SendableMetatype {
  static var elementType: Any.Type { get }
  /// The array with such elements.
  static var ordered: any ListType.Type { get }
  /// Whether the order of the elements is significant.
  static var isOrdered: Bool { get }
  /// Returns the elements of an instance.
  static func elements(of list: Any) -> [Any]
  /// Returns a list of such elements; nil if one has another type.
  static func make(_ elements: [Any]) -> Any?
}

extension Array: ListType {
  static var elementType: Any.Type { Element.self }
  static var ordered: any ListType.Type { Self.self }
  static var isOrdered: Bool { true }
  static func elements(of list: Any) -> [Any] { list as? Self ?? [] }

  static func make(_ elements: [Any]) -> Any? {
    let result = elements.compactMap { $0 as? Element }
    return result.count == elements.count ? result : nil
  }
}

extension Set: ListType {
  static var elementType: Any.Type { Element.self }
  static var ordered: any ListType.Type { [Element].self }
  static var isOrdered: Bool { false }
  static func elements(of list: Any) -> [Any] { (list as? Self).map { Array($0) } ?? [] }
  static func make(_ elements: [Any]) -> Any? { ([Element].make(elements) as? [Element]).map { Set($0) } }
}

/// Dictionaries with any keys and values.
protocol DictionaryType: SendableMetatype {
  static var keyType: Any.Type { get }
  static var elementType: Any.Type { get }
  /// Returns the entries of an instance, in any order.
  static func entries(of dictionary: Any) -> [(key: Any, value: Any)]
  /// Returns a dictionary of such entries. Throws if two entries have the same key, or if one has another type.
  static func make(_ entries: [(key: Any, value: Any)]) throws -> Any
}

extension Dictionary: DictionaryType {
  static var keyType: Any.Type { Key.self }
  static var elementType: Any.Type { Value.self }

  static func entries(of dictionary: Any) -> [(key: Any, value: Any)] {
    (dictionary as? Self ?? [:]).map { ($0.key, $0.value) }
  }

  static func make(_ entries: [(key: Any, value: Any)]) throws -> Any {
    var result = Self(minimumCapacity: entries.count)
    for (key, value) in entries {
      guard let key = key as? Key, let value = value as? Value else { throw ConversionFailure() }
      guard result.updateValue(value, forKey: key) == nil else { throw ElementFailure.repeatedKey(key) }
    }
    return result
  }
}

/// A list of elements in text.
enum CommaList {
  /// Returns the elements without the spaces around them; none for blank text.
  static func split(_ text: String) -> [String] {
    if text.allSatisfy(\.isWhitespace) { return [] }
    return text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
  }
}
