import BeansErrors

/// The place of a declaration or of a call. Most origins are never read, so a literal is stored until one is.
@usableFromInline
enum SourceLocation: Sendable {
  case literal(file: StaticString, line: UInt)
  indirect case known(EnvironmentError.Origin)

  @inlinable
  init(file: StaticString, line: UInt) { self = .literal(file: file, line: line) }

  @inline(never)
  var origin: EnvironmentError.Origin {
    switch self {
    case .literal(let file, let line): EnvironmentError.Origin(file, line)
    case .known(let origin): origin
    }
  }

  /// Returns the error with this place added: as its origin, or as the failing call if the error has an origin.
  @usableFromInline @inline(never)
  func met(_ error: any Error) -> any Error { (error as? EnvironmentError)?.met(by: origin) ?? error }
}

extension EnvironmentError.Origin {
  /// Returns this origin, with the module that declares the bean there.
  func declared(in module: String) -> Self {
    var origin = self
    origin.module = module
    return origin
  }
}

extension CallPlace {
  var origin: EnvironmentError.Origin {
    let (file, line) = text
    return EnvironmentError.Origin(file: file, line: line)
  }

  /// Returns the error with this place added, as that of a `SourceLocation`.
  @inline(never)
  func met(_ error: any Error) -> any Error { (error as? EnvironmentError)?.met(by: origin) ?? error }
}
