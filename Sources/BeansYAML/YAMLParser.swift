import Beans

/// A parser of one YAML document to a tree of values with lines.
struct YAMLParser {
  /// A complete node. Its size and height are those after the expansion of aliases.
  struct Node {
    var tree: ConfigurationTree
    var count: Int
    var height: Int
  }

  private let file: ConfigurationFile
  private let reader: YAMLEventReader
  private var anchors: [String: Node] = [:]
  /// The anchors of the nodes around the current one.
  private var open: Set<String> = []
  private var count = 0

  init(_ bytes: [UInt8], of file: ConfigurationFile) throws(EnvironmentError) {
    self.file = file
    reader = try YAMLEventReader(bytes, of: file)
  }

  /// Parses the whole file. A file without a document, or with an empty one, is an object without keys.
  ///
  /// - Throws: `.conversionFailed` with line and column.
  mutating func parse() throws(EnvironmentError) -> ConfigurationTree {
    var root: ConfigurationTree?
    while true {
      let event = try reader.next()
      switch event.kind {
      case .streamEnd: return root ?? ConfigurationTree(.object([]), line: 1)
      case .other: continue
      case .documentStart:
        if root != nil { throw fault("a second document: write one document in a file", event) }
        let node = try node(reader.next(), depth: 0)
        root = if case .null = node.tree.content { ConfigurationTree(.object([]), line: 1) } else { node.tree }
      default: throw fault("there is no document", event)
      }
    }
  }

  /// Parses the node that an event begins.
  private mutating func node(_ event: YAMLEvent, depth: Int) throws(EnvironmentError) -> Node {
    let node: Node
    switch event.kind {
    case .alias(let name): return try expand(name, event, depth)
    case .scalar(let text, let isPlain, let properties):
      node = Node(
        tree: .init(YAMLSchema.content(text, isPlain: isPlain, tag: properties.tag), line: event.line), count: 1,
        height: 0)
      if let anchor = properties.anchor { anchors[anchor] = node }
    case .mappingStart(let properties):
      node = try collection(event, properties, "map", depth) { parser throws(EnvironmentError) in
        try parser.mapping(depth)
      }
    case .sequenceStart(let properties):
      node = try collection(event, properties, "seq", depth) { parser throws(EnvironmentError) in
        try parser.sequence(depth)
      }
    default: throw fault("there is no value", event)
    }
    try add(1, depth, event)
    return node
  }

  /// Parses a mapping or a sequence, and keeps it under its anchor.
  private mutating func collection(
    _ event: YAMLEvent, _ properties: YAMLProperties, _ tag: String, _ depth: Int,
    _ parse: (inout YAMLParser) throws(EnvironmentError) -> (ConfigurationTree.Content, height: Int)
  ) throws(EnvironmentError) -> Node {
    // Checked before the recursion, which it limits.
    try add(0, depth, event)
    let before = count
    if let anchor = properties.anchor { open.insert(anchor) }
    var (content, height) = try parse(&self)
    if let tag = YAMLSchema.unknownTag(properties.tag, known: [tag]) { content = .invalid(tag) }
    let node = Node(tree: .init(content, line: event.line), count: count - before + 1, height: height + 1)
    if let anchor = properties.anchor {
      open.remove(anchor)
      anchors[anchor] = node
    }
    return node
  }

  private mutating func sequence(
    _ depth: Int
  ) throws(EnvironmentError) -> (ConfigurationTree.Content, height: Int) {
    var (elements, height): ([ConfigurationTree], Int) = ([], 0)
    while true {
      let event = try reader.next()
      if case .sequenceEnd = event.kind { return (.array(elements), height) }
      let node = try node(event, depth: depth + 1)
      elements.append(node.tree)
      height = max(height, node.height)
    }
  }

  private mutating func mapping(
    _ depth: Int
  ) throws(EnvironmentError) -> (ConfigurationTree.Content, height: Int) {
    var (entries, merged, height): ([ConfigurationTree.Entry], [ConfigurationTree.Entry], Int) = ([], [], 0)
    while true {
      let event = try reader.next()
      if case .mappingEnd = event.kind { break }
      let (key, isMerge) = try key(event)
      let node = try node(reader.next(), depth: depth + 1)
      height = max(height, node.height)
      if isMerge {
        merged += try mergedEntries(of: node.tree, event)
      } else {
        entries.append(.init(key: key, line: event.line, value: node.tree))
      }
    }
    // The mapping's own keys override merged ones, and the first of several merged mappings the others.
    var known = Set(merged.isEmpty ? [] : entries.map(\.key))
    entries += merged.filter { known.insert($0.key).inserted }
    return (.object(entries), height)
  }

  /// Returns the key that an event is, and whether it is the merge key.
  private func key(_ event: YAMLEvent) throws(EnvironmentError) -> (String, isMerge: Bool) {
    guard case .scalar(let text, let isPlain, let properties) = event.kind else {
      throw fault("a key that is no text: write the key as a text", event)
    }
    if let reason = YAMLSchema.unknownTag(properties.tag, known: ["str", "int", "float", "bool", "null"]) {
      throw fault("the key \(reason)", event)
    }
    if let anchor = properties.anchor {
      throw fault("the key has the anchor '&\(anchor)': move the anchor to a value", event)
    }
    return (text, isPlain && text == "<<")
  }

  private func mergedEntries(
    of tree: ConfigurationTree, _ event: YAMLEvent
  ) throws(EnvironmentError) -> [ConfigurationTree.Entry] {
    if case .object(let entries) = tree.content { return entries }
    if case .array(let elements) = tree.content {
      let mappings = elements.compactMap { if case .object(let entries) = $0.content { entries } else { nil } }
      if mappings.count == elements.count { return mappings.flatMap { $0 } }
    }
    throw fault("'<<' without a mapping: write an alias of one, a list of aliases, or '<<' in quotes for a key", event)
  }

  private mutating func expand(_ name: String, _ event: YAMLEvent, _ depth: Int) throws(EnvironmentError) -> Node {
    if open.contains(name) { throw fault("the alias '*\(name)' is within the value that it refers to", event) }
    guard let node = anchors[name] else {
      throw fault("the alias '*\(name)' refers to no anchor: write '&\(name)' before an earlier value", event)
    }
    try add(node.count, depth + node.height, event)
    return node
  }

  /// Adds to the number of values, and checks the limits.
  private mutating func add(_ values: Int, _ depth: Int, _ event: YAMLEvent) throws(EnvironmentError) {
    count += values
    if count > ConfigurationTree.maximumCount {
      throw fault("it has more than \(ConfigurationTree.maximumCount) values, with those of its aliases", event)
    }
    if depth > ConfigurationTree.maximumDepth {
      throw fault("the values are nested more than \(ConfigurationTree.maximumDepth) deep", event)
    }
  }

  private func fault(_ reason: String, _ event: YAMLEvent) -> EnvironmentError {
    file.fault(reason, line: event.line, column: event.column)
  }
}
