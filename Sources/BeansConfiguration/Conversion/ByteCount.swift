/// A number of bytes: in text `64 MiB`, `1.5 GB`, `512`.
///
/// The units are B; kB, MB, GB and TB, of 1,000 each; and KiB, MiB, GiB and TiB, of 1,024 each. A fraction of a byte is
/// refused.
public struct ByteCount: Hashable, Sendable, Codable, LosslessStringConvertible {
  /// The number of bytes; never negative if it was parsed.
  public var bytes: Int

  /// Creates a number of bytes.
  public init(_ bytes: Int) { self.bytes = bytes }

  /// Parses a number of bytes; returns nil for any other text.
  public init?(_ description: String) {
    guard let parsed = try? Self.parse(description) else { return nil }
    self = parsed
  }

  /// Decodes a text such as `64 MiB`, or a number.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let bytes = try? container.decode(Int.self) {
      self.init(bytes)
      return
    }
    let text = try container.decode(String.self)
    do { self = try Self.parse(text) } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.reason)
    }
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// The number in the largest unit without a remainder: `64 MiB`.
  public var description: String {
    guard bytes != 0 else { return "0 B" }
    let unit = Self.units.first { bytes.isMultiple(of: $0.bytes) } ?? ("B", 1)
    return "\(bytes / unit.bytes) \(unit.name)"
  }

  /// The units, the largest first.
  private static let units: [(name: String, bytes: Int)] = [
    ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20),
    ("MB", 1_000_000), ("KiB", 1 << 10), ("kB", 1_000), ("B", 1),
  ]

  static func parse(_ given: String) throws(ConversionFailure) -> ByteCount {
    let text = given.trimmed
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let name = text[number.endIndex...].drop(while: \.isWhitespace)
    guard !number.isEmpty,
      let unit = name.isEmpty ? 1 : units.first(where: { $0.name == (name == "KB" ? "kB" : name) })?.bytes
    else { throw malformed }
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else { throw malformed }
    guard let whole = Int(parts[0]) else { throw ConversionFailure("it is out of range") }
    let (bytes, overflows) = whole.multipliedReportingOverflow(by: unit)
    if overflows { throw ConversionFailure("it is out of range") }
    guard parts.count == 2 else { return ByteCount(bytes) }
    guard parts[1].count <= 6, let decimals = Int(parts[1]) else { throw malformed }
    let scale = (0..<parts[1].count).reduce(1) { scale, _ in scale * 10 }
    // At most 10^6 times 2^40, below the limit of 2^63.
    let (share, rest) = (decimals * unit).quotientAndRemainder(dividingBy: scale)
    guard rest == 0 else { throw ConversionFailure("a byte has no parts") }
    let (sum, isTooLarge) = bytes.addingReportingOverflow(share)
    if isTooLarge { throw ConversionFailure("it is out of range") }
    return ByteCount(sum)
  }

  private static let malformed = ConversionFailure(
    "expected a number and a unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), such as 64 MiB")
}
