/// Reads metrics as strictly as the two formats are specified, and throws at the first thing that is not as they say.
struct MetricParser {
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  struct Family {
    let name: String
    var kind = ""
    var unit: String?
    var help: String?
    var samples: [Sample] = []
  }

  struct Sample {
    let name: String
    let labels: [String: String]
    let value: Double
  }

  private let isOpen: Bool
  private(set) var families: [Family] = []

  /// - Parameters:
  ///   - text: the body of the response.
  ///   - isOpen: true for OpenMetrics 1.0, false for the text format 0.0.4.
  init(_ text: String, isOpen: Bool) throws {
    self.isOpen = isOpen
    if text.utf8.contains(13) { throw Fault(description: "a carriage return") }
    guard text.hasSuffix("\n") else { throw Fault(description: "no line end at the end") }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    if isOpen {
      guard lines.popLast() == "# EOF" else { throw Fault(description: "no # EOF at the end") }
    }
    for line in lines {
      do { try read(line) } catch let fault as Fault { throw Fault(description: "\(fault) in: \(line)") }
    }
    for family in families { try check(family) }
  }

  /// The value of a sample.
  subscript(name: String, labels: [String: String]) -> Double? {
    families.flatMap(\.samples).first { $0.name == name && $0.labels == labels }?.value
  }

  subscript(name: String) -> Double? { self[name, [:]] }

  // MARK: lines

  private mutating func read(_ line: Substring) throws {
    guard line.hasPrefix("#") else { return try readSample(line) }
    guard let match = line.wholeMatch(of: /# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)/) else {
      throw Fault(description: "no metadata")
    }
    let (word, name, text) = (String(match.1), String(match.2), String(match.3))
    if families.last?.name != name {
      if families.contains(where: { $0.name == name }) { throw Fault(description: "a family in two parts") }
      families.append(Family(name: name))
    }
    let index = families.count - 1
    if !families[index].samples.isEmpty { throw Fault(description: "metadata after samples") }
    switch word {
    case "TYPE":
      guard families[index].kind.isEmpty, ["counter", "gauge", "histogram"].contains(text) else {
        throw Fault(description: "a kind that is not one, or twice")
      }
      families[index].kind = text
    case "UNIT":
      guard isOpen, families[index].unit == nil, name.hasSuffix("_\(text)") else {
        throw Fault(description: "a unit that is not the end of the name")
      }
      families[index].unit = text
    default:
      guard families[index].help == nil else { throw Fault(description: "help twice") }
      families[index].help = try Self.unescape(text, quotes: isOpen)
    }
  }

  private mutating func readSample(_ line: Substring) throws {
    guard let match = line.prefixMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/) else { throw Fault(description: "no name") }
    var rest = line[match.range.upperBound...]
    var labels: [String: String] = [:]
    if rest.first == "{" {
      rest.removeFirst()
      while true {
        guard let label = rest.prefixMatch(of: /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/) else {
          throw Fault(description: "no label")
        }
        let value = try Self.unescape(String(label.2), quotes: true)
        if labels.updateValue(value, forKey: String(label.1)) != nil { throw Fault(description: "a label twice") }
        rest = rest[label.range.upperBound...]
        guard let next = rest.popFirst(), next == "," || next == "}" else { throw Fault(description: "open labels") }
        if next == "}" { break }
      }
    }
    guard rest.first == " ", let value = Self.number(rest.dropFirst()) else { throw Fault(description: "no value") }
    guard let family = families.last else { throw Fault(description: "a sample of no family") }
    let name = String(match.output)
    guard Self.names(of: family, isOpen).contains(name) else { throw Fault(description: "a sample of another family") }
    if family.samples.contains(where: { $0.name == name && $0.labels == labels }) {
      throw Fault(description: "a sample twice")
    }
    families[families.count - 1].samples.append(Sample(name: name, labels: labels, value: value))
  }

  private static func names(of family: Family, _ isOpen: Bool) -> [String] {
    switch family.kind {
    case "counter": [isOpen ? "\(family.name)_total" : family.name]
    case "gauge": [family.name]
    default: ["_bucket", "_sum", "_count"].map { family.name + $0 }
    }
  }

  private static func number(_ text: Substring) -> Double? {
    if ["+Inf", "-Inf", "NaN"].contains(text) { return Double(text) }
    return text.wholeMatch(of: /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/) == nil ? nil : Double(text)
  }

  private static func unescape(_ text: String, quotes: Bool) throws -> String {
    var (plain, isEscaped) = ("", false)
    for character in text {
      if isEscaped {
        switch character {
        case "n": plain.append("\n")
        case "\\": plain.append("\\")
        case "\"" where quotes: plain.append("\"")
        default: throw Fault(description: "an escape that is none")
        }
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        plain.append(character)
      }
    }
    if isEscaped { throw Fault(description: "an escape at the end") }
    return plain
  }

  // MARK: families

  private func check(_ family: Family) throws {
    func fault(_ text: String) -> Fault { Fault(description: "\(family.name): \(text)") }
    guard !family.kind.isEmpty, family.help != nil, !family.samples.isEmpty else { throw fault("incomplete") }
    if isOpen, family.name.hasSuffix("_total") { throw fault("total inside of the name") }
    if !isOpen, family.kind == "counter", !family.name.hasSuffix("_total") { throw fault("a counter without _total") }
    if family.kind == "counter", family.samples.contains(where: { !($0.value >= 0) || $0.value.isInfinite }) {
      throw fault("a counter that is no count")
    }
    guard family.kind == "histogram" else { return }
    let groups = Dictionary(grouping: family.samples) { $0.labels.filter { $0.key != "le" } }
    for (labels, samples) in groups {
      var (bound, count, last) = (-Double.infinity, 0.0, "")
      for bucket in samples where bucket.name.hasSuffix("_bucket") {
        guard let le = bucket.labels["le"], let value = Double(le), value > bound, bucket.value >= count else {
          throw fault("buckets that do not ascend")
        }
        guard le == "+Inf" || le == "\(value)" else { throw fault("a bound that is not canonical: \(le)") }
        (bound, count, last) = (value, bucket.value, le)
      }
      guard last == "+Inf" else { throw fault("no last bucket") }
      guard samples.first(where: { $0.name.hasSuffix("_count") && $0.labels == labels })?.value == count else {
        throw fault("a count that is not that of the buckets")
      }
      guard let sum = samples.first(where: { $0.name.hasSuffix("_sum") }), sum.value >= 0 else { throw fault("no sum") }
    }
  }
}
