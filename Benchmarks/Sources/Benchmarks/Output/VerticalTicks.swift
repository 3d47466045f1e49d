import Glibc

/// The range of a plot's vertical axis, and the values beside it.
struct VerticalTicks {
  let values: [Double]
  private let scale: Plot.Axis.Scale
  private let digits: Int

  init(values: [Double], scale: Plot.Axis.Scale) {
    let measured = values.filter { $0.isFinite && $0 > 0 }
    let (least, most) = (measured.min() ?? 1, measured.max() ?? 1)
    self.scale = scale
    switch scale {
    case .linear:
      let step = Self.step(most)
      self.values = (0...Int((most / step).rounded(.up))).map { Double($0) * step }
      digits = max(0, -Int(log10(step).rounded(.down)))
    case .logarithmic:
      let first = Int(log10(least).rounded(.down))
      let last = max(first + 1, Int(log10(most).rounded(.up)))
      self.values = (first...last).map { pow(10, Double($0)) }
      digits = max(0, -first)
    }
  }

  /// The largest of 1, 2 and 5 times a power of ten that leads to five steps at least.
  private static func step(_ most: Double) -> Double {
    let power = pow(10, log10(most / 5).rounded(.down))
    return [5, 2, 1].first { $0 * power <= most / 5 }.map { $0 * power } ?? power
  }

  /// The share of the axis below a value.
  func share(_ value: Double) -> Double {
    guard let first = values.first, let last = values.last else { return 0 }
    return switch scale {
    case .linear: value / last
    case .logarithmic: log(value / first) / log(last / first)
    }
  }

  func label(_ value: Double) -> String {
    value < 1 || digits > 0 && scale == .linear ? Text.number(value, digits: digits) : Text.grouped(value)
  }
}
