/// A bean that is told from others of its type by a tag, which is a type: `Qualified<Replica, Database>`.
///
///     enum Replica {}
///
///     environment.bean(Database.self, factory: Database.init).qualifier(Replica.self)
///     environment.bean(Reports.self) { (database: Qualified<Replica, Database>) in Reports(database.value) }
///
/// `Qualified<Replica, Database>?` is nil where there is none, `[Qualified<Replica, Database>]` are all that have the tag; the
/// other wrappers stand around it, as in `Owned<Qualified<Replica, Database>>`.
/// Whoever asks for a `Database` without a tag sees those with one, too.
public struct Qualified<Tag, T> {
  /// The bean.
  public let value: T

  /// Wraps a bean by hand, for tests of types that take one.
  public init(_ value: T) { self.value = value }
}

extension Qualified: Sendable where T: Sendable {}

extension Qualified: ParameterType {
  static var parameter: Parameter {
    let isInvalid = Parameter.isWrapper(T.self)
    return Parameter(
      Qualified<Tag, T>.self, element: T.self,
      isInvalid ? .invalid(.noBeanInside, "\(T.self) is not a bean's type, so that it has no qualifier") : .one,
      qualifier: Tag.self,
      box: { ($0.first as? T).map { ValueBox(Qualified<Tag, T>($0)) } })
  }
}
