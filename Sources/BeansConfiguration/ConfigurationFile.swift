package import BeansErrors

/// A file with configuration values, for its errors.
package struct ConfigurationFile: Sendable {
  /// The maximum size of a file, in bytes.
  package static let limit = 8 * 1024 * 1024

  package let path: String

  package init(path: String) { self.path = path }

  /// Returns the items of the file's outermost object.
  ///
  /// - Throws: `.conversionFailed`: a single fault with its line, or one error that holds all faults.
  package func items(of root: ConfigurationTree) throws(EnvironmentError) -> [ConfigurationItem] {
    let flat = ConfigurationFlattening(root, of: self)
    // A key that is given twice is found before the faults of the values above it.
    let faults = flat.faults.sorted { ($0.origin?.line ?? 1) < ($1.origin?.line ?? 1) }
    guard let first = faults.first else { return flat.items }
    if flat.faultCount == 1 { throw first }
    let more = flat.faultCount > faults.count ? ", of which the first \(faults.count) follow" : ""
    throw fault("\(flat.faultCount) faults\(more)", line: first.origin?.line ?? 1, underlying: faults)
  }

  /// Creates the error for a malformed file.
  ///
  /// - Parameters:
  ///   - reason: the fault and its remedy.
  ///   - line: the line of the fault, from 1.
  ///   - column: the column of the fault, from 1, if known.
  ///   - underlying: the single faults, if there are several.
  package func fault(
    _ reason: String, line: Int, column: Int? = nil, underlying: [any Error] = []
  ) -> EnvironmentError {
    EnvironmentError(
      cause: .malformedFile, "configuration file '\(path)': \(reason)", steps: [EnvironmentError.Step("'\(path)'")],
      origin: .init(file: path, line: line, column: column), underlying: underlying)
  }

  /// Checks the size and the encoding of the content.
  ///
  /// - Throws: `.conversionFailed` for more bytes than the limit, and for the first byte that is not UTF-8.
  package func check(_ bytes: [UInt8]) throws(EnvironmentError) {
    if bytes.count > Self.limit { throw fault("it has more than \(Self.limit) bytes", line: 1) }
    if let index = Self.firstInvalidByte(of: bytes) { throw fault("it is not UTF-8", atByte: index, of: bytes) }
  }

  #if canImport(Darwin)
    /// Returns the index of the first byte that is not UTF-8. `UTF8Span` needs macOS 26.
    private static func firstInvalidByte(of bytes: [UInt8]) -> Int? {
      var parser = Unicode.UTF8.ForwardParser()
      var rest = bytes.makeIterator()
      var index = 0
      while case .valid(let character) = parser.parseScalar(from: &rest) { index += character.count }
      return index < bytes.count ? index : nil
    }
  #else
    /// Returns the index of the first byte that is not UTF-8.
    private static func firstInvalidByte(of bytes: [UInt8]) -> Int? {
      do throws(UTF8.ValidationError) {
        _ = try UTF8Span(validating: bytes.span)
        return nil
      } catch {
        return error.byteOffsets.lowerBound
      }
    }
  #endif

  /// Creates the error for a malformed file, at the place of one of its bytes.
  package func fault(_ reason: String, atByte index: Int, of bytes: [UInt8]) -> EnvironmentError {
    let before = bytes[..<min(max(index, 0), bytes.count)]
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return fault(
      reason, line: before.count { $0 == UInt8(ascii: "\n") } + 1,
      column: Self.characterCount(before[lineStart...]) + 1)
  }

  /// Returns the number of characters of Unicode: bytes that continue one are left out.
  package static func characterCount(_ bytes: ArraySlice<UInt8>) -> Int { bytes.count { $0 & 0xC0 != 0x80 } }
}
