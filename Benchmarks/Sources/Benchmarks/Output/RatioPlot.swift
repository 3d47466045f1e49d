/// Ratio against graph size, as SVG: both axes from what was measured, the sizes evenly spaced because they double.
struct RatioPlot {
  struct Line {
    let name: String
    /// From the smallest graph to the largest.
    let points: [(size: Int, ratio: Double)]
  }

  let title: String
  let lines: [Line]

  private static let (width, height) = (720.0, 400.0)
  private static let (left, right, top, bottom) = (64.0, 24.0, 48.0, 56.0)
  private static let colours = ["#1f6f8b", "#b8540f", "#4b7f2b", "#7a4b9c"]

  var svg: String {
    let sizes = lines.first?.points.map(\.size) ?? []
    let highest = lines.flatMap(\.points).map(\.ratio).max() ?? 1
    // Half steps up to the next one above the highest.
    let steps = max(2, Int((highest / 0.5).rounded(.up)))
    let scale = Double(steps) * 0.5
    var parts = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(figure(Self.width)) \(figure(Self.height))\" "
        + "font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
      text(title, Self.left, 26, "start", extra: " font-size=\"16\" font-weight=\"bold\""),
    ]
    for step in 0...steps {
      let ratio = Double(step) * 0.5
      let y = vertical(ratio, scale)
      let stroke = ratio == 1 ? "#999" : "#e4e4e4"
      parts.append(
        "<line x1=\"\(figure(Self.left))\" x2=\"\(figure(Self.width - Self.right))\" y1=\"\(figure(y))\" "
          + "y2=\"\(figure(y))\" stroke=\"\(stroke)\"/>")
      parts.append(text(Text.number(ratio, digits: 1), Self.left - 8, y + 4, "end"))
    }
    for (index, size) in sizes.enumerated() {
      parts.append(text("\(size)", horizontal(index, sizes.count), Self.height - Self.bottom + 20, "middle"))
    }
    parts.append(text("beans per request", Self.width / 2, Self.height - 14, "middle"))
    parts.append(text("× hand-written", Self.left - 8, Self.top - 8, "middle"))
    for (number, line) in lines.enumerated() {
      let colour = Self.colours[number % Self.colours.count]
      let points = line.points.enumerated().map {
        (x: horizontal($0.offset, sizes.count), y: vertical($0.element.ratio, scale))
      }
      let path = points.map { "\(figure($0.x)),\(figure($0.y))" }.joined(separator: " ")
      parts.append("<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>")
      for point in points {
        parts.append("<circle cx=\"\(figure(point.x))\" cy=\"\(figure(point.y))\" r=\"3.5\" fill=\"\(colour)\"/>")
      }
      let y = Self.top + 16 + 18 * Double(number)
      parts.append(text(line.name, Self.width - Self.right - 8, y, "end", extra: " style=\"fill:\(colour)\""))
    }
    return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  private func horizontal(_ index: Int, _ count: Int) -> Double {
    let room = Self.width - Self.left - Self.right - 48
    return Self.left + 24 + room * Double(index) / Double(max(1, count - 1))
  }

  private func vertical(_ ratio: Double, _ scale: Double) -> Double {
    Self.top + (Self.height - Self.top - Self.bottom) * (1 - ratio / scale)
  }

  private func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String, extra: String = "") -> String {
    "<text x=\"\(figure(x))\" y=\"\(figure(y))\" text-anchor=\"\(anchor)\"\(extra)>\(text)</text>"
  }

  private func figure(_ value: Double) -> String { Text.number(value, digits: 1) }
}
