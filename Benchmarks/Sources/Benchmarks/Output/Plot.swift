import Glibc

/// Lines over two axes, as SVG.
struct Plot {
  struct Axis {
    enum Scale {
      /// From 0.
      case linear
      /// From the power of ten below the least value; along the horizontal axis, from the least value.
      case logarithmic
    }

    let name: String
    var scale = Scale.linear
  }

  struct Point {
    let x, y: Double
  }

  struct Line {
    let name: String
    let points: [Point]
  }

  /// The name of the file below the folder of the README.
  let file: String
  let title: String
  let horizontal: Axis
  let vertical: Axis
  /// The value of the vertical axis that has a line of its own, such as the ratio 1.
  var reference: Double?
  let lines: [Line]

  private static let (width, height) = (720.0, 420.0)
  private static let (left, right, top, bottom) = (64.0, 24.0, 84.0, 56.0)
  private static let inset = 24.0
  private static let colours = ["#1f6f8b", "#b8540f", "#4b7f2b", "#7a4b9c"]

  var svg: String {
    let vertical = VerticalTicks(values: lines.flatMap(\.points).map(\.y), scale: vertical.scale)
    let parts =
      [
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(figure(Self.width)) \(figure(Self.height))\" "
          + "font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">",
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
        text(title, 16, 26, "start", extra: " font-size=\"16\" font-weight=\"bold\""),
      ] + legend() + grid(vertical) + columns()
      + lines.enumerated().flatMap { drawing($0.element, Self.colour($0.offset), vertical) } + ["</svg>"]
    return parts.joined(separator: "\n") + "\n"
  }

  private static func colour(_ number: Int) -> String { colours[number % colours.count] }

  /// The names of the lines, in a row below the title.
  private func legend() -> [String] {
    var x = 16.0
    return lines.enumerated().flatMap { number, line in
      let colour = Self.colour(number)
      defer { x += 58 + 7 * Double(line.name.count) }
      return [
        "<line x1=\"\(figure(x))\" x2=\"\(figure(x + 24))\" y1=\"44\" y2=\"44\" stroke=\"\(colour)\" stroke-width=\"3\"/>",
        text(line.name, x + 30, 48, "start", extra: " style=\"fill:\(colour)\""),
      ]
    }
  }

  /// The horizontal lines and the values of the vertical axis.
  private func grid(_ ticks: VerticalTicks) -> [String] {
    let lines = ticks.values.flatMap { value in
      let y = y(value, ticks)
      let stroke = value == reference ? "#999" : "#e4e4e4"
      return [
        "<line x1=\"\(figure(Self.left))\" x2=\"\(figure(Self.width - Self.right))\" y1=\"\(figure(y))\" "
          + "y2=\"\(figure(y))\" stroke=\"\(stroke)\"/>",
        text(ticks.label(value), Self.left - 8, y + 4, "end"),
      ]
    }
    return [text(vertical.name, 16, Self.top - 14, "start")] + lines
  }

  /// The values of the horizontal axis: those that were measured.
  private func columns() -> [String] {
    xs.map { text(Text.grouped($0), x($0), Self.height - Self.bottom + 20, "middle") }
      + [text(horizontal.name, (Self.left + Self.width - Self.right) / 2, Self.height - 14, "middle")]
  }

  private func drawing(_ line: Line, _ colour: String, _ ticks: VerticalTicks) -> [String] {
    let points = line.points.map { (x: x($0.x), y: y($0.y, ticks)) }
    let path = points.map { "\(figure($0.x)),\(figure($0.y))" }.joined(separator: " ")
    return ["<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>"]
      + points.map { "<circle cx=\"\(figure($0.x))\" cy=\"\(figure($0.y))\" r=\"3.5\" fill=\"\(colour)\"/>" }
  }

  /// The values of all points, in order.
  private var xs: [Double] { Set(lines.flatMap(\.points).map(\.x)).sorted() }

  private func x(_ value: Double) -> Double {
    let room = Self.width - Self.left - Self.right - 2 * Self.inset
    let (least, most) = (xs.first ?? 0, xs.last ?? 1)
    let share =
      switch horizontal.scale {
      case .linear: value / most
      case .logarithmic: most == least ? 0 : log(value / least) / log(most / least)
      }
    return Self.left + Self.inset + room * share
  }

  private func y(_ value: Double, _ ticks: VerticalTicks) -> Double {
    Self.top + (Self.height - Self.top - Self.bottom) * (1 - ticks.share(value))
  }

  private func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String, extra: String = "") -> String {
    let escaped = text.map { $0 == "<" ? "&lt;" : $0 == "&" ? "&amp;" : String($0) }.joined()
    return "<text x=\"\(figure(x))\" y=\"\(figure(y))\" text-anchor=\"\(anchor)\"\(extra)>\(escaped)</text>"
  }

  private func figure(_ value: Double) -> String { Text.number(value, digits: 1) }
}
