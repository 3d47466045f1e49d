/// The measurements of one name, as in Prometheus and OpenMetrics.
struct MetricFamily: Sendable {
  enum Kind: String, Sendable { case counter, gauge, histogram }

  enum Value: Sendable {
    case integer(Int)
    case number(Double)
  }

  /// The combination of values if a series is added several times.
  enum Merging: Sendable { case sum, smallest, largest }

  struct Sample: Sendable {
    /// The family's suffix and the labels, in the form of both formats.
    let series: String
    var value: Value
  }

  /// The name, without the `_total` of a counter's samples.
  let name: String
  let kind: Kind
  /// The last part of the name, if that is a unit.
  let unit: String?
  let help: String
  private let merging: Merging
  private(set) var samples: [Sample] = []
  /// The index of each series in `samples`.
  private var places: [String: Int] = [:]

  /// Creates a family without a sample.
  ///
  /// - Parameters:
  ///   - kind: the kind of metric.
  ///   - name: the name without the unit.
  ///   - unit: the last part of the name, if that is a unit.
  ///   - help: one sentence.
  ///   - merging: the combination of the values of one series, because a scraper refuses a repeated series.
  init(_ kind: Kind, _ name: String, unit: String? = nil, _ help: String, merging: Merging = .sum) {
    self.kind = kind
    self.merging = merging
    self.name = unit.map { "\(name)_\($0)" } ?? name
    self.unit = unit
    self.help = help
  }

  /// Creates a family of one sample.
  init(_ kind: Kind, _ name: String, unit: String? = nil, _ help: String, _ value: Value) {
    self.init(kind, name, unit: unit, help)
    add(value)
  }

  mutating func add(_ value: Value, _ labels: (name: String, value: String)...) {
    add(value, suffix: kind == .counter ? "_total" : "", labels)
  }

  private mutating func add(_ value: Value, suffix: String, _ labels: [(name: String, value: String)]) {
    let labels = labels.map { "\($0.name)=\"\(Self.escape($0.value, quotes: true))\"" }
    let series = labels.isEmpty ? suffix : "\(suffix){\(labels.joined(separator: ","))}"
    if let place = places[series] {
      samples[place].value = samples[place].value.merged(with: value, by: merging)
    } else {
      places[series] = samples.count
      samples.append(Sample(series: series, value: value))
    }
  }

  /// Adds the samples of one histogram.
  ///
  /// - Parameters:
  ///   - counts: the counts by bucket, the last one without a bound.
  ///   - bounds: the upper bounds of all other buckets, ascending.
  ///   - sum: the sum of all measurements.
  ///   - label: the label that distinguishes the histogram from others of the family.
  mutating func add(_ counts: [Int], bounds: [Double], sum: Double, _ label: (name: String, value: String)) {
    var total = 0
    for (index, count) in counts.enumerated() {
      total += count
      let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
      add(.integer(total), suffix: "_bucket", [label, ("le", bound)])
    }
    add(.number(sum), suffix: "_sum", [label])
    add(.integer(total), suffix: "_count", [label])
  }
}

extension MetricFamily.Value {
  private var number: Double {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    }
  }

  fileprivate func merged(with other: Self, by merging: MetricFamily.Merging) -> Self {
    switch merging {
    case .sum:
      if case .integer(let left) = self, case .integer(let right) = other { return .integer(left + right) }
      return .number(number + other.number)
    case .smallest: return other.number < number ? other : self
    case .largest: return other.number > number ? other : self
    }
  }
}

extension [MetricFamily] {
  /// Returns all families as text. Families without a sample are omitted.
  func text(as format: MetricFormat) -> String {
    var text = ""
    for family in self where !family.samples.isEmpty { family.write(as: format, into: &text) }
    if format == .openMetrics { text += "# EOF\n" }
    return text
  }
}

extension MetricFamily {
  fileprivate func write(as format: MetricFormat, into text: inout String) {
    // The older format uses only names of samples.
    let described = format == .prometheus && kind == .counter ? "\(name)_total" : name
    text += "# TYPE \(described) \(kind.rawValue)\n"
    if format == .openMetrics, let unit { text += "# UNIT \(described) \(unit)\n" }
    text += "# HELP \(described) \(Self.escape(help))\n"
    for sample in samples {
      text += name + sample.series
      switch sample.value {
      case .integer(let value): text += " \(value)\n"
      case .number(let value): text += " \(value)\n"
      }
    }
  }

  /// Escapes a text.
  ///
  /// - Parameter quotes: true if a quote would end the text. OpenMetrics allows its escape in both places, the older
  ///   format in values of labels alone.
  private static func escape(_ text: String, quotes: Bool = false) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      // Allowed, but many readers treat it as the end of a line.
      case "\r": break
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
