/// A value to bind to a parameter of a statement.
enum SQLiteValue: Equatable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
  case integer(Int64)
  case text(String)
  case null

  init(integerLiteral value: Int64) { self = .integer(value) }
  init(stringLiteral value: String) { self = .text(value) }
}
