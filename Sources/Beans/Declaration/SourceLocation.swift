import BeansErrors

/// The place of a declaration or of a call. Most origins are never read, so a literal is stored until one is.
@usableFromInline
enum SourceLocation: Sendable {
  case literal(CallPlace)
  indirect case known(EnvironmentError.Origin)

  @inlinable
  init(file: StaticString, line: UInt) { self = .literal(CallPlace(file: file, line: line)) }

  @inline(never)
  var origin: EnvironmentError.Origin {
    switch self {
    case .literal(let place): place.origin
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
  var origin: EnvironmentError.Origin { EnvironmentError.Origin(file: file.text, line: Int(line)) }
}
