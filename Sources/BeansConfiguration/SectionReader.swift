@_spi(BeansPackage) import BeansErrors
import BeansReflection

/// The reading of one section as a type: values, lists, dictionaries and `Decodable` types, nested at will.
///
/// A reader that collects goes on after a fault with a stand-in for the value, so that it finds all faults; another one
/// throws at once, so that a type that catches the error may go on in its own way. Confined to one thread.
final class SectionReader {
  /// The result of reading one place.
  enum Outcome {
    /// No source has a value.
    case absent
    /// The fault has been recorded.
    case faulty
    case value(Any)
  }

  /// The end of decoding a type, after a fault without a stand-in.
  private struct Halt: Error {}

  private enum Fault {
    case missing(QualifiedKey)
    case error(EnvironmentError)
  }

  private static let deepest = 64
  private static let maximumElements = 100_000

  private let manager: ConfigurationManager
  private let scope: String
  private let collects: Bool
  private(set) lazy var known = KnownKeys(manager)
  private var faults: [Fault] = []
  /// The keys that were looked for.
  private var visited: Set<QualifiedKey> = []
  /// The number of values that were found.
  private var foundCount = 0
  private var depth = 0
  /// The types that were not decoded to the end, because of a fault without a stand-in.
  private var halted: [(type: String, isRead: Bool, fault: Int)] = []

  init(_ manager: ConfigurationManager, scope: String, collects: Bool) {
    self.manager = manager
    self.scope = scope
    self.collects = collects
  }

  // MARK: reading

  /// Reads one place as a type.
  func read(_ type: Any.Type, at key: QualifiedKey) -> Outcome {
    if let optional = type as? any OptionalConversion.Type { return read(optional, at: key) }
    let list = type as? any ListType.Type
    let dictionary = type as? any DictionaryType.Type
    // A type with a text form is no section, even if it is `Decodable`.
    let isLeaf =
      list == nil && dictionary == nil && manager.conversions.hasConversion(String.self, targetType: type)
    let isSection = !isLeaf && (list != nil || dictionary != nil || type is any Decodable.Type)
    if let list { return read(list, at: key) }
    if let value = find(key), let outcome = convert(value, to: type, isSection: isSection) { return outcome }
    if isLeaf { return .absent }
    if let dictionary { return read(dictionary, at: key) }
    if let type = type as? any Decodable.Type { return decode(type, at: key) }
    return .absent
  }

  /// Reads a place as a type; the fault of an absent value is recorded.
  func decode<Value: Decodable>(_ type: Value.Type, at key: QualifiedKey) throws -> Value {
    switch read(type, at: key) {
    case .value(let value):
      if let value = value as? Value { return value }
      record(EnvironmentError(.typeMismatch, "configuration value '\(key)' is not a \(type)", path: ["'\(key)'"]))
    case .absent:
      manager.noteMissing(key, scope: scope)
      faults.append(.missing(key))
    case .faulty: break
    }
    if collects {
      if let value = StandIn.make(type) as? Value { return value }
      throw Halt()
    }
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no valid value for '\(key)'"))
  }

  private func find(_ key: QualifiedKey) -> StoredValue? {
    visited.insert(key)
    return manager.find(key, scope: scope, isProbe: true)
  }

  /// Converts a value; returns nil if there is no conversion, and the type may be read as a section.
  private func convert(_ value: StoredValue, to type: Any.Type, isSection: Bool) -> Outcome? {
    let source = Swift.type(of: value.item.value)
    guard TypeRelation.isUsable(source, as: type) || manager.conversions.hasConversion(source, targetType: type) else {
      if isSection { return nil }
      foundCount += 1
      return record(
        value.naming(EnvironmentError(.noConversion, "no conversion from \(source) to \(type) is registered")))
    }
    foundCount += 1
    var trace = PlaceholderTrace(scope: scope)
    do throws(EnvironmentError) {
      let content = try manager.content(of: value, for: type, &trace)
      return .value(try manager.convert(content, of: value, to: type, isSecret: trace.isSecret))
    } catch {
      return record(error)
    }
  }

  private func read(_ optional: any OptionalConversion.Type, at key: QualifiedKey) -> Outcome {
    switch attempt(optional.wrappedType, at: key) {
    case .absent:
      if !known.has(key) { manager.noteMissing(key, scope: scope) }
      return .value(optional.absent)
    case .faulty: return .faulty
    case .value(let value): return optional.some(value).map { .value($0) } ?? .faulty
    }
  }

  /// Reads a place that may be absent. It is absent if no value is found for the type, even if the type wants some.
  private func attempt(_ type: Any.Type, at key: QualifiedKey) -> Outcome {
    guard find(key) != nil || known.has(key) else { return .absent }
    let (faultCount, foundBefore) = (faults.count, foundCount)
    let outcome = read(type, at: key)
    if foundCount > foundBefore { return outcome }
    faults.removeSubrange(faultCount...)
    halted.removeAll { $0.fault >= faultCount }
    return .absent
  }

  // MARK: lists and dictionaries

  /// Reads a list: one value, whose elements later sources may change and append, or elements alone.
  private func read(_ list: any ListType.Type, at key: QualifiedKey) -> Outcome {
    guard let value = find(key) else { return read(list, at: key, over: []) }
    let hasElements = known.children(of: key, areLeaves: false).contains { Int($0) != nil }
    let type = hasElements ? list.ordered : list
    switch convert(value, to: type, isSection: true) {
    case nil: return read(list, at: key, over: [])
    case .value(let whole)? where hasElements: return read(list, at: key, over: list.ordered.elements(of: whole))
    case let outcome?: return outcome
    }
  }

  private func read(_ list: any ListType.Type, at key: QualifiedKey, over whole: [Any]) -> Outcome {
    var elements: [Any] = []
    var isFaulty = false
    var count = 0
    reading: while count < Self.maximumElements {
      switch attempt(list.elementType, at: key.child("\(count)")) {
      case .absent where count < whole.count: elements.append(whole[count])
      case .absent: break reading
      case .faulty: isFaulty = true
      case .value(let value): elements.append(value)
      }
      count += 1
    }
    let numbers = known.children(of: key, areLeaves: false).compactMap { Int($0) }
    if let next = numbers.filter({ $0 > count }).min() {
      foundCount += 1
      return record(
        EnvironmentError(
          cause: .missingConfiguration,
          "the list '\(key)' has an element \(next), and none \(count)", path: ["'\(key)'"]))
    }
    if count == 0 { return .absent }
    if isFaulty { return .faulty }
    return list.make(elements).map { .value($0) } ?? .faulty
  }

  private func read(_ dictionary: any DictionaryType.Type, at key: QualifiedKey) -> Outcome {
    // Values that convert from text are not nested: the rest of a key is one name.
    let areLeaves =
      !(dictionary.elementType is any ListType.Type)
      && manager.conversions.hasConversion(String.self, targetType: dictionary.elementType)
    var entries: [(key: Any, value: Any)] = []
    var isFaulty = false
    for name in known.children(of: key, areLeaves: areLeaves) {
      let outcome = attempt(dictionary.elementType, at: key.child(name))
      do {
        switch outcome {
        case .absent: break
        case .faulty: isFaulty = true
        case .value(let value): entries.append((try manager.convert(name, to: dictionary.keyType), value))
        }
      } catch {
        isFaulty = true
        record(error.saying("a key of '\(key)': \(error.message)"))
      }
    }
    if isFaulty { return .faulty }
    if entries.isEmpty { return .absent }
    do { return .value(try dictionary.make(entries)) } catch {
      return record(EnvironmentError(cause: .repeatedKey, "two keys of '\(key)' become the same", path: ["'\(key)'"]))
    }
  }

  // MARK: types

  private func decode<Value: Decodable>(_ type: Value.Type, at key: QualifiedKey) -> Outcome {
    guard depth < Self.deepest else {
      return record(
        EnvironmentError(.invalidDeclaration, "\(type) is nested more than \(Self.deepest) times", path: ["'\(key)'"]))
    }
    depth += 1
    defer { depth -= 1 }
    let before = faults.count
    do {
      let value = try type.init(from: NodeDecoder(node: SectionNode(reader: self, key: key)))
      if collects, faults.count > before { return .faulty }
      if let checked = value as? any ValidatedConfiguration {
        do { try checked.validate() } catch { return record(refusal(by: type, at: key, error)) }
      }
      return .value(value)
    } catch is Halt {
      let fault = faults.count - 1
      halted.append(("\(type)", readRest(of: type, at: key), fault))
      return .faulty
    } catch {
      // A type that refuses a stand-in is not at fault.
      if faults.count == before { record(refusal(by: type, at: key, error)) }
      return .faulty
    }
  }

  /// Reads the values of the properties that a type has not decoded, for their faults.
  ///
  /// - Returns: false if the type has keys other than the names of its properties, so that its values are not known. A
  ///   missing value is no fault, because the type may have a default.
  private func readRest(of type: Any.Type, at key: QualifiedKey) -> Bool {
    let properties = StoredField.names(ofStruct: type)
    let names = Set(properties.map(\.name))
    guard visited.allSatisfy({ $0.section != key || $0 == key || names.contains($0.lastName) }) else { return false }
    for property in properties where !visited.contains(key.child(property.name)) {
      _ = read(property.type, at: key.child(property.name))
    }
    return !properties.isEmpty
  }

  private func refusal(by type: Any.Type, at key: QualifiedKey, _ error: any Error) -> EnvironmentError {
    let name = key.isRoot ? "the configuration" : "'\(key)'"
    let value = manager.find(key, scope: scope, isProbe: true)
    let place = value.map { " of \($0.place)" } ?? ""
    if let value, manager.isSecret(value) {
      return EnvironmentError(cause: .refusedSection, "\(name)\(place), a secret, is refused by \(type)", path: [name])
    }
    let reason = (error as? DecodingError).map(Self.reason) ?? "\(error)"
    return EnvironmentError(
      cause: .refusedSection, "\(name)\(place) is refused by \(type): \(reason)",
      steps: [EnvironmentError.Step(name)], origin: value?.origin, underlying: [error])
  }

  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      context.debugDescription
    @unknown default: "\(error)"
    }
  }

  @discardableResult
  private func record(_ error: EnvironmentError) -> Outcome {
    faults.append(.error(error))
    return .faulty
  }

  // MARK: faults

  /// The faults so far, with near misses among the keys below the section that nothing looked for.
  func faults(in section: QualifiedKey) -> [EnvironmentError] {
    var unread: [StoredValue]?
    var found = faults.map { fault in
      switch fault {
      case .error(let error): return error
      case .missing(let key):
        let error = manager.missing(key, scope: scope, .missingConfiguration, hints: false)
        let values = unread ?? known.values(below: section, except: visited)
        unread = values
        return error.saying(error.message + manager.variables(of: key) + Self.hint(key, values))
      }
    }
    for (type, isRead, number) in halted where found.indices.contains(number) {
      let rest = isRead ? "missing" : "further"
      found[number] = found[number].saying("\(found[number].message); \(rest) values of \(type) are not checked yet")
    }
    return found
  }

  private static func hint(_ key: QualifiedKey, _ unread: [StoredValue]) -> String {
    let near = unread.first { value in
      let names = ["\(key)"] + value.spelling.names(of: key)
      return names.contains { EditDistance.isSmall($0, "\(value.item.qualifiedKey)") }
    }
    return near.map { "; did you mean '\($0.item.qualifiedKey)' of \($0.place)?" } ?? ""
  }

  /// The faults of values below the section that nothing looked for.
  func unknownKeys(in section: QualifiedKey, as type: Any.Type) -> [EnvironmentError] {
    // A type that was not decoded to the end may have a place for any key.
    if halted.contains(where: { !$0.isRead }) { return [] }
    return known.values(below: section, except: visited).map { value in
      let name = "\(value.item.qualifiedKey)"
      let keys = visited.flatMap { ["\($0)"] + value.spelling.names(of: $0) }
      let near = keys.filter { EditDistance.isSmall($0, name) }.min()
      let hint = near.map { "; did you mean '\($0)'?" } ?? ""
      return EnvironmentError(
        cause: .unknownKey, "configuration value '\(name)' of \(value.place) has no place in \(type)\(hint)",
        path: ["'\(name)'"], origin: value.origin)
    }
  }

  /// A key of the section that a reader reads.
  private struct SectionNode: DecodedNode {
    let reader: SectionReader
    let key: QualifiedKey

    var names: [String] { reader.known.children(of: key, areLeaves: false) }
    var exists: Bool { reader.find(key) != nil || reader.known.has(key) }

    var elements: [any DecodedNode] {
      var texts: [String] = []
      if let value = reader.find(key),
        case .value(let list)? = reader.convert(value, to: [String].self, isSection: true)
      {
        texts = list as? [String] ?? []
      }
      var nodes: [any DecodedNode] = []
      while nodes.count < SectionReader.maximumElements {
        let next = SectionNode(reader: reader, key: key.child("\(nodes.count)"))
        if next.exists {
          nodes.append(next)
        } else if nodes.count < texts.count {
          nodes.append(TextElement(text: texts[nodes.count], reader: reader, key: key))
        } else {
          break
        }
      }
      return nodes
    }

    func child(_ name: String) -> any DecodedNode { SectionNode(reader: reader, key: key.child(name)) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try reader.decode(type, at: key) }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
      try reader.decode(Value?.self, at: key)
    }
  }

  /// An element of a list that is one text.
  private struct TextElement: DecodedNode {
    let text: String
    let reader: SectionReader
    let key: QualifiedKey

    var names: [String] { [] }
    var elements: [any DecodedNode] { [] }
    var exists: Bool { true }
    func child(_ name: String) -> any DecodedNode { SectionNode(reader: reader, key: key.child(name)) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      if let value = try reader.manager.convert(text, to: type) as? Value { return value }
      throw Halt()
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? { try decode(type) }
  }
}
