/// Where something is declared. Most origins are never asked for, so that a literal stays one until then.
enum SourcePlace {
  case literal(file: StaticString, line: UInt)
  case known(EnvironmentError.Origin)

  var origin: EnvironmentError.Origin {
    switch self {
    case .literal(let file, let line): EnvironmentError.Origin(file: "\(file)", line: Int(line))
    case .known(let origin): origin
    }
  }
}
