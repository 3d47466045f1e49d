/// Measurements of one name: as Prometheus and OpenMetrics have it.
struct MetricFamily: Sendable {
  enum Kind: String, Sendable { case counter, gauge, histogram }

  enum Value: Sendable {
    case integer(Int)
    case number(Double)
  }

  struct Sample: Sendable {
    /// What follows the family's name.
    var suffix = ""
    var labels: [(name: String, value: String)] = []
    let value: Value
  }

  /// Without the `_total` of a counter's samples.
  let name: String
  let kind: Kind
  /// The last part of the name, where that is a unit.
  let unit: String?
  let help: String
  private(set) var samples: [Sample] = []

  init(_ kind: Kind, _ name: String, unit: String? = nil, _ help: String) {
    self.kind = kind
    self.name = unit.map { "\(name)_\($0)" } ?? name
    self.unit = unit
    self.help = help
  }

  /// A family of one sample.
  init(_ kind: Kind, _ name: String, unit: String? = nil, _ help: String, _ value: Value) {
    self.init(kind, name, unit: unit, help)
    add(value)
  }

  mutating func add(_ value: Value, _ labels: (name: String, value: String)...) {
    samples.append(Sample(suffix: kind == .counter ? "_total" : "", labels: labels, value: value))
  }

  /// Adds the samples of one histogram.
  ///
  /// - Parameters:
  ///   - counts: by bucket, the last one without a bound.
  ///   - bounds: the upper bounds of all others, ascending.
  ///   - sum: of all that was measured.
  ///   - label: what tells the histogram from others of the family.
  mutating func add(_ counts: [Int], bounds: [Double], sum: Double, _ label: (name: String, value: String)) {
    var total = 0
    for (index, count) in counts.enumerated() {
      total += count
      let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
      samples.append(Sample(suffix: "_bucket", labels: [label, ("le", bound)], value: .integer(total)))
    }
    samples.append(Sample(suffix: "_sum", labels: [label], value: .number(sum)))
    samples.append(Sample(suffix: "_count", labels: [label], value: .integer(total)))
  }
}

extension [MetricFamily] {
  /// All of them as text. Families without a sample are left out.
  func text(as format: MetricFormat) -> String {
    var text = ""
    for family in self where !family.samples.isEmpty { family.write(as: format, into: &text) }
    if format == .openMetrics { text += "# EOF\n" }
    return text
  }
}

extension MetricFamily {
  fileprivate func write(as format: MetricFormat, into text: inout String) {
    // The older format knows only names of samples.
    let described = format == .prometheus && kind == .counter ? "\(name)_total" : name
    text += "# TYPE \(described) \(kind.rawValue)\n"
    if format == .openMetrics, let unit { text += "# UNIT \(described) \(unit)\n" }
    text += "# HELP \(described) \(Self.escape(help))\n"
    for sample in samples {
      text += name + sample.suffix
      if !sample.labels.isEmpty {
        let labels = sample.labels.map { "\($0.name)=\"\(Self.escape($0.value, quotes: true))\"" }
        text += "{\(labels.joined(separator: ","))}"
      }
      switch sample.value {
      case .integer(let value): text += " \(value)\n"
      case .number(let value): text += " \(value)\n"
      }
    }
  }

  /// - Parameter quotes: whether a quote would end the text. OpenMetrics allows its escape in both places, the older format
  ///   in values of labels alone.
  private static func escape(_ text: String, quotes: Bool = false) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      // Allowed, and for many a reader the end of a line.
      case "\r": break
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
