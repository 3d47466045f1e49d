/// A bean that a tag, which is a type, distinguishes from other beans of its type: `Qualified<Replica, Database>`.
///
///     enum Replica {}
///
///     environment.bean(Database.self, factory: Database.init).qualifier(Replica.self)
///     environment.bean(Reports.self) { (database: Qualified<Replica, Database>) in Reports(database.value) }
///
/// `Qualified<Replica, Database>?` is nil where no bean has the tag; `[Qualified<Replica, Database>]` contains all
/// beans that have it. The other wrappers enclose this one, as in `Owned<Qualified<Replica, Database>>`. A `Database`
/// parameter without a tag also finds the beans that have one.
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
      qualifier: Tag.self, wrap: { ($0.beans.first as? T).map { ValueBox(Qualified<Tag, T>($0)) } })
  }
}
