/// The fields of an `application/x-www-form-urlencoded` body or of a query, in order.
struct FormFields: Sendable {
  private let pairs: [(name: String, value: String)]

  /// Parses the fields. Throws `400` if an escape is malformed.
  init(_ bytes: some Sequence<UInt8>) throws(HTTPError) {
    var pairs: [(name: String, value: String)] = []
    for part in Array(bytes).split(separator: UInt8(ascii: "&")) {
      let sides = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decode(sides[0], in: .form),
        let value = sides.count == 2 ? PercentEncoding.decode(sides[1], in: .form) : ""
      else { throw HTTPError(.badRequest, "The form has a malformed escape.") }
      pairs.append((name, value))
    }
    self.pairs = pairs
  }

  subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }
}
