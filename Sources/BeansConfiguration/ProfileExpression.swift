package import BeansErrors

/// A condition on the active profiles, spelled as in Spring: names, `!`, `&`, `|` and parentheses.
package enum ProfileExpression: Sendable {
  /// A profile that has to be active, or inactive. A negation stands only here: the parser moves it inwards.
  case name(String, isActive: Bool)
  case all([ProfileExpression])
  case any([ProfileExpression])

  /// Reads one expression.
  ///
  /// - Throws: `.invalidDeclaration` for a text that is not an expression.
  package init(_ text: String) throws(EnvironmentError) {
    var parser = ProfileParser(text)
    self = try parser.only()
  }

  /// Reads expressions with commas, semicolons or white space between them, as documents list them.
  ///
  /// - Throws: as `init(_:)`.
  package static func list(_ text: String) throws(EnvironmentError) -> [ProfileExpression] {
    var parser = ProfileParser(text)
    return try parser.list()
  }

  /// The profiles that the expression names.
  package var names: [String] {
    switch self {
    case .name(let name, _): [name]
    case .all(let parts), .any(let parts): parts.flatMap(\.names)
    }
  }

  /// Returns the reasons why the expression does not hold with the active profiles; empty where it holds.
  func refusals(_ active: [String]) -> [String] {
    switch self {
    case .name(let name, let isWanted):
      let isActive = active.contains(name)
      return isActive == isWanted ? [] : ["profile '\(name)' is \(isActive ? "active" : "not active")"]
    case .all(let parts): return parts.flatMap { $0.refusals(active) }
    case .any(let parts):
      let refusals = parts.map { $0.refusals(active) }
      return refusals.contains(where: \.isEmpty) ? [] : refusals.flatMap(\.self)
    }
  }
}

/// A list of profile expressions, one of which has to hold.
package struct ProfileCondition: Sendable {
  package let expression: ProfileExpression
  /// The reasons why the condition cannot be read.
  package private(set) var faults: [String] = []

  package init(_ expressions: [ProfileExpression]) { expression = .any(expressions) }

  package init(_ texts: [String]) {
    var expressions: [ProfileExpression] = []
    for text in texts {
      do throws(EnvironmentError) { expressions.append(try ProfileExpression(text)) } catch {
        faults.append(error.message)
      }
    }
    if texts.isEmpty { faults.append("a condition names no profile") }
    expression = .any(expressions)
  }
}

/// Reads profile expressions: an operand, or several with only `&` or only `|` between them.
private struct ProfileParser {
  private let text: String
  /// The rest of the text: names, and symbols of one character.
  private var tokens: ArraySlice<String>
  /// The number of open negations and parentheses.
  private var depth = 0

  private static let symbols = "!&|(),;"
  /// The limit of nesting, which protects the stack.
  private static let greatestDepth = 100

  init(_ text: String) {
    self.text = text
    let spaced = text.map { Self.symbols.contains($0) ? " \($0) " : "\($0)" }.joined()
    tokens = spaced.split(whereSeparator: \.isWhitespace).map { String($0) }[...]
  }

  mutating func only() throws(EnvironmentError) -> ProfileExpression {
    let expression = try expression()
    switch tokens.first {
    case nil: return expression
    case ")": throw fault("a ')' closes nothing")
    case ",", ";": throw fault("give each of several profiles as an argument of its own")
    case let next?: throw fault("'&' or '|' is missing before '\(next)'")
    }
  }

  mutating func list() throws(EnvironmentError) -> [ProfileExpression] {
    var expressions: [ProfileExpression] = []
    while let next = tokens.first {
      switch next {
      case ",", ";": tokens.removeFirst()
      case ")": throw fault("a ')' closes nothing")
      default: expressions.append(try expression())
      }
    }
    return expressions
  }

  private mutating func expression(isNegated: Bool = false) throws(EnvironmentError) -> ProfileExpression {
    var operands = [try operand(isNegated)]
    let separator = tokens.first
    while let next = tokens.first, next == "&" || next == "|" {
      if next != separator { throw fault("'&' and '|' are only mixed with parentheses") }
      tokens.removeFirst()
      operands.append(try operand(isNegated))
    }
    if operands.count == 1 { return operands[0] }
    // By De Morgan: the negation of an alternative holds where all of its negated parts do.
    return (separator == "&") != isNegated ? .all(operands) : .any(operands)
  }

  private mutating func operand(_ isNegated: Bool) throws(EnvironmentError) -> ProfileExpression {
    guard let next = tokens.popFirst() else { throw fault("a name is missing at the end") }
    depth += 1
    defer { depth -= 1 }
    if depth > Self.greatestDepth { throw fault("it is nested more than \(Self.greatestDepth) deep") }
    switch next {
    case "!": return try operand(!isNegated)
    case "(":
      let inner = try expression(isNegated: isNegated)
      guard let end = tokens.popFirst() else { throw fault("a ')' is missing") }
      if end != ")" { throw fault("'&', '|' or ')' is missing before '\(end)'") }
      return inner
    case let name where !Self.symbols.contains(name): return .name(name, isActive: !isNegated)
    default: throw fault("a name is missing before '\(next)'")
    }
  }

  private func fault(_ reason: String) -> EnvironmentError {
    let shown = text.count > 100 ? "\(text.prefix(100))…" : text
    return EnvironmentError(cause: .malformedProfile, "'\(shown)' is no profile expression: \(reason)")
  }
}
