/// Percent-decoding of paths, queries and form bodies.
enum PercentEncoding {
  /// Nil where an escape is malformed or the result is not UTF-8 or holds a NUL. `plusIsSpace` is the rule of forms and queries.
  static func decode(_ bytes: some Sequence<UInt8>, plusIsSpace: Bool) -> String? {
    var decoded: [UInt8] = []
    var iterator = bytes.makeIterator()
    while let byte = iterator.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = iterator.next().flatMap(ASCII.hexValue), let low = iterator.next().flatMap(ASCII.hexValue)
        else { return nil }
        decoded.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace:
        decoded.append(ASCII.space)
      default:
        decoded.append(byte)
      }
    }
    if decoded.contains(0) { return nil }
    return String(validating: decoded, as: UTF8.self)
  }
}
