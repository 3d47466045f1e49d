/// A number of a file with its spelling: a reader of text gets what the file says, such as `01234` or `1.10`, and a reader
/// of a number the number.
package struct SpelledNumber<Number: Hashable & Sendable>: Hashable, Sendable, CustomStringConvertible {
  package let number: Number
  package let spelling: String

  package init(_ number: Number, _ spelling: String) { (self.number, self.spelling) = (number, spelling) }

  /// The text of the file.
  package var description: String { spelling }
}

/// A `SpelledNumber` of any number.
package protocol SpelledValue: Sendable {
  static var numberType: Any.Type { get }
  var anyNumber: any Sendable { get }
  var spelling: String { get }
}

extension SpelledNumber: SpelledValue {
  package static var numberType: Any.Type { Number.self }
  package var anyNumber: any Sendable { number }
}

extension SpelledValue {
  /// Returns the conversion to another type: that of the text to text, and that of the number to everything else.
  static func conversion(to target: Any.Type, search: PartSearch) -> Conversion? {
    if target == String.self { return { ($0 as? any SpelledValue)?.spelling ?? "\($0)" } }
    guard let convert = search(numberType, target) else { return nil }
    return { value in try convert((value as? any SpelledValue)?.anyNumber ?? value) }
  }
}
