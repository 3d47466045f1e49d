import BeansErrors

/// Where something is declared, or called. Most origins are never asked for, so that a literal stays one until then.
@usableFromInline
enum SourceLocation: Sendable {
  case literal(file: StaticString, line: UInt)
  indirect case known(EnvironmentError.Origin)

  @inlinable
  init(file: StaticString, line: UInt) { self = .literal(file: file, line: line) }

  var origin: EnvironmentError.Origin {
    switch self {
    case .literal(let file, let line): EnvironmentError.Origin(file, line)
    case .known(let origin): origin
    }
  }

  /// What a call here throws, which says that it was this one.
  @usableFromInline @inline(never)
  func met(_ error: any Error) -> any Error { (error as? EnvironmentError)?.met(by: origin) ?? error }
}

extension EnvironmentError.Origin {
  /// This origin, with the module that declares what stands there.
  func declared(in module: String) -> Self {
    var origin = self
    origin.module = module
    return origin
  }
}
