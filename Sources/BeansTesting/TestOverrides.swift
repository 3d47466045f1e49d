import Beans
public import Testing

/// What a test wants otherwise than the declarations say, and what it lets pass at the end.
///
/// An override takes the place of one declaration in each environment that has any for its type: in the one that is
/// declared, and in the children of each factory. Among several the rules of lookups decide: exactly that type before
/// subclasses and conforming types, the primary one before others. What is not private to a module is preferred. What
/// takes the place keeps the declaration's id, qualifiers, scope, module, and whether it is lazy or primary. It does not
/// keep arguments, properties, callbacks and requirements. Decorators stand before it as before the declared bean.
///
/// Overrides are strict. One that meets no declaration, meets several, or would lose to another bean is a fault of
/// startup: nothing is built, and the fault names what may have been meant.
public struct TestOverrides: Sendable {
  /// Made for the journal of each environment.
  var makers: [@Sendable (TestJournal) -> BeanOverride] = []
  /// Scopes whose children may be open at the end.
  var openScopes: Set<String> = []
  /// Types whose instances may be referenced after the end.
  var referencedTypes: [Any.Type] = []

  init() {}

  /// Puts a bean in the place of the one that lookups of `type` find.
  ///
  ///     overrides.override((any Store).self) { MemoryStore() }
  ///
  /// The bean is of the type that the factory returns: it is found as that, too. Whoever asks for another type that only the
  /// declared bean has finds none, which is a fault of startup.
  ///
  /// - Parameters:
  ///   - type: what lookups ask for: a class, a value type or a protocol.
  ///   - id: the id of the declaration, where several answer to the type.
  ///   - qualifier: a qualifier of the declaration.
  ///   - scope: the scope that the bean lives in: "singleton", "request", …; nil for all.
  ///   - sourceLocation: where faults say that the override stands.
  ///   - factory: makes an instance, on whichever thread asks first; its parameters are resolved by their types.
  public mutating func override<Replaced, Made, each Dependency>(
    _ type: Replaced.Type, id: String? = nil, qualifier: Any.Type? = nil, in scope: String? = nil,
    sourceLocation: Testing.SourceLocation = #_sourceLocation,
    factory: @escaping @Sendable (repeat each Dependency) throws -> Made
  ) {
    let origin = EnvironmentError.Origin(sourceLocation)
    let made = BeanOverride(type, id: id, qualifier: qualifier, scope: scope, at: origin, factory: factory)
    makers.append { _ in made }
  }

  /// Fails the test when the bean that lookups of `type` find is built, and says who wanted it.
  ///
  /// Building it throws as well. Startup does not build it by itself, but does build what is not lazy and takes it: override
  /// that, too. It meets declarations as an override does, and is as strict.
  ///
  /// - Parameters:
  ///   - type: what lookups ask for.
  ///   - id: the id of the declaration, where several answer to the type.
  ///   - qualifier: a qualifier of the declaration.
  ///   - scope: the scope that the bean lives in; nil for all.
  ///   - sourceLocation: where the test is said to forbid it.
  public mutating func forbid<Forbidden>(
    _ type: Forbidden.Type, id: String? = nil, qualifier: Any.Type? = nil, in scope: String? = nil,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    let origin = EnvironmentError.Origin(sourceLocation)
    makers.append { journal in
      BeanOverride(forbidding: type, id: id, qualifier: qualifier, scope: scope, at: origin) { [weak journal] label in
        let path = Environment.beansBeingBuilt.joined(separator: " → ")
        let error = EnvironmentError(
          cause: .forbiddenBean, "\(label) is forbidden in this test (\(origin)), and was wanted: \(path)",
          path: [label],
          origin: origin)
        journal?.note(forbidden: error)
        return error
      }
    }
  }

  /// Lets children of that scope be open when the test ends; the shutdown finishes them.
  public mutating func allowOpen(_ scope: String) { openScopes.insert(scope) }

  /// Lets instances of exactly that class be referenced after their scope has ended.
  public mutating func allowReferences(to type: AnyClass) { referencedTypes.append(type) }
}

extension EnvironmentError.Origin {
  init(_ location: Testing.SourceLocation) { self.init(file: location.fileID, line: location.line) }
}
