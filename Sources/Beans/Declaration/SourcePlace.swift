/// Where something is declared. Most origins are never asked for, so that a literal stays one until then.
enum SourcePlace {
  /// The file's name in UTF-8, which is part of the program.
  case literal(file: UnsafePointer<UInt8>, count: UInt32, line: UInt32)
  indirect case known(EnvironmentError.Origin)

  init(file: StaticString, line: UInt) {
    // A name of a single character may stand in the literal itself; and no source has as many lines as it may claim.
    if file.hasPointerRepresentation, let count = UInt32(exactly: file.utf8CodeUnitCount),
      let line = UInt32(exactly: line)
    {
      self = .literal(file: file.utf8Start, count: count, line: line)
    } else {
      self = .known(EnvironmentError.Origin(file: "\(file)", line: Int(clamping: line)))
    }
  }

  var origin: EnvironmentError.Origin {
    switch self {
    case .literal(let file, let count, let line):
      EnvironmentError.Origin(
        file: String(decoding: UnsafeBufferPointer(start: file, count: Int(count)), as: UTF8.self), line: Int(line))
    case .known(let origin): origin
    }
  }
}
