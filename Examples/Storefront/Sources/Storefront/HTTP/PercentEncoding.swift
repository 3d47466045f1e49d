/// Percent-decoding of paths, queries and form bodies.
enum PercentEncoding {
  /// The text that contains the escapes.
  enum Place {
    /// A path: an escaped `/` separates no segments, so it stays as `%2F`.
    case path
    /// A form or a query: `+` is a space.
    case form
  }

  /// Decodes the bytes; returns nil if an escape is malformed, or if the result is not UTF-8 or contains a NUL.
  static func decode(_ bytes: some Sequence<UInt8>, in place: Place) -> String? {
    var decoded: [UInt8] = []
    var iterator = bytes.makeIterator()
    while let byte = iterator.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = iterator.next().flatMap(ASCII.hexValue), let low = iterator.next().flatMap(ASCII.hexValue)
        else { return nil }
        let character = high << 4 | low
        if character == UInt8(ascii: "/"), place == .path {
          decoded.append(literal: "%2F")
        } else {
          decoded.append(character)
        }
      case UInt8(ascii: "+") where place == .form:
        decoded.append(ASCII.space)
      default:
        decoded.append(byte)
      }
    }
    if decoded.contains(0) { return nil }
    return String(validating: decoded, as: UTF8.self)
  }
}
