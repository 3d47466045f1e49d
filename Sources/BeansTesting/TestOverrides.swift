import Beans
public import Testing

/// The overrides of a test, and the objects that its environment may leave behind at the end.
///
/// An override replaces one declaration in each environment that has any for its type: in the declared environment, and
/// in the children of each factory. Among several declarations the rules of lookups select one: the exact type before
/// subclasses and conforming types, a primary bean before others. A bean that is not private to a module is preferred.
/// The override keeps the declaration's id, qualifiers, scope, module, and whether it is lazy or primary. It does not
/// keep arguments, properties, callbacks and requirements. Decorators wrap it as they wrap the declared bean.
///
/// Overrides are strict. An override that matches no declaration, matches several, or would lose to another bean is a
/// fault of startup. No bean is built then, and the fault names likely alternatives.
public struct TestOverrides: Sendable {
  /// The factories of the overrides, called with the journal of each environment.
  var makers: [@Sendable (TestJournal) -> BeanOverride] = []
  /// Scopes whose children may be open at the end.
  var openScopes: Set<String> = []
  /// Types whose instances may be referenced after the end.
  var referencedTypes: [Any.Type] = []

  init() {}

  /// Replaces the bean that lookups of `type` find.
  ///
  ///     overrides.override((any Store).self) { MemoryStore() }
  ///
  /// The bean has the type that the factory returns, and lookups of that type find it, too. A lookup of another type
  /// that only the declared bean has finds no bean, which is a fault of startup.
  ///
  /// - Parameters:
  ///   - type: the type in lookups: a class, a value type or a protocol.
  ///   - id: the id of the declaration, where several match the type.
  ///   - qualifier: a qualifier of the declaration.
  ///   - scope: the scope of the bean: "singleton", "request", …; nil for all.
  ///   - sourceLocation: the place of the override in faults.
  ///   - factory: makes an instance, on the thread that needs the bean first; its parameters are resolved by their
  ///     types.
  public mutating func override<Replaced, Made, each Dependency>(
    _ type: Replaced.Type, id: String? = nil, qualifier: Any.Type? = nil, in scope: String? = nil,
    sourceLocation: Testing.SourceLocation = #_sourceLocation,
    factory: @escaping @Sendable (repeat each Dependency) throws -> Made
  ) {
    let origin = EnvironmentError.Origin(sourceLocation)
    let made = BeanOverride(
      type: type, id: id, qualifier: qualifier, scope: scope, origin: origin,
      factory: ReplacingFactory(at: origin, factory))
    makers.append { _ in made }
  }

  /// Fails the test when the bean that lookups of `type` find is built. The issue names the beans that needed it.
  ///
  /// Building the bean also throws. Startup does not build the bean by itself, but builds each bean that is not lazy
  /// and needs it: override these beans, too. `forbid` matches declarations as an override does, and is as strict.
  ///
  /// - Parameters:
  ///   - type: the type in lookups.
  ///   - id: the id of the declaration, where several match the type.
  ///   - qualifier: a qualifier of the declaration.
  ///   - scope: the scope of the bean; nil for all.
  ///   - sourceLocation: the place of the prohibition in faults.
  public mutating func forbid<Forbidden>(
    _ type: Forbidden.Type, id: String? = nil, qualifier: Any.Type? = nil, in scope: String? = nil,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    let origin = EnvironmentError.Origin(sourceLocation)
    makers.append { journal in
      let refusal = ReplacingFactory(refusing: { [weak journal] label in
        let path = Environment.beansBeingBuilt.joined(separator: " → ")
        let error = EnvironmentError(
          cause: .forbiddenBean, "\(label) is forbidden in this test (\(origin)), and is needed: \(path)",
          path: [label],
          origin: origin)
        journal?.note(forbidden: error)
        return error
      })
      return BeanOverride(type: type, id: id, qualifier: qualifier, scope: scope, origin: origin, factory: refusal)
    }
  }

  /// Permits children of a scope to be open when the test ends. The shutdown finishes them.
  public mutating func allowOpen(_ scope: String) { openScopes.insert(scope) }

  /// Permits instances of exactly one class to be referenced after their scope has ended.
  public mutating func allowReferences(to type: AnyClass) { referencedTypes.append(type) }
}

extension EnvironmentError.Origin {
  init(_ location: Testing.SourceLocation) { self.init(file: location.fileID, line: location.line) }
}
