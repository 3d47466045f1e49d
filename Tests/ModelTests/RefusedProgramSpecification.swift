import Testing

/// Programs that the compiler refuses, and its messages.
@Suite("Wrong arguments of define and getBean") struct RefusedProgramSpecification {
  private static let types = """
    import Beans
    final class Foo { init(name: String) {} }
    struct Pool {}
    struct Payments: BeanModule { func configure(_ environment: Environment) throws {} }
    func use(_ environment: Environment) throws {

    """

  @Test(
    "The message of the compiler names the part that the call lacks",
    arguments: [
      ("try environment.define(Foo.self)", "needs a factory: define(Foo.self, factory: Foo.init)"),
      ("try environment.define(Pool.self) { $0.lazy() }", "needs a factory: define(Foo.self, factory: Foo.init)"),
      ("try environment.define(Foo.init)", "a factory follows the type of its bean"),
      ("try environment.define { Pool() }", "a factory follows the type of its bean"),
      ("try environment.define(\"pool\")", "text declares nothing"),
      ("try environment.define(Pool())", "an instance has a label: define(instance: pool)"),
      ("try environment.define(Payments())", "a module is included: include(Payments())"),
      ("try environment.define(Foo.self, factory: Pool.init)", "cannot convert value of type"),
      ("_ = try environment.getBean()", "the context names no type"),
    ])
  func messages(call: String, message: String) throws {
    let errors = try SwiftProgram(source: Self.types + "  \(call)\n}\n").errors()
    #expect(errors.count == 1 && errors[0].contains(message), "\(call): \(errors)")
  }

  @Test("The right form of each call compiles")
  func rightForms() throws {
    let calls = """
      try environment
        .define(Foo.self, factory: Foo.init) { $0.id("foo").lazy() }
        .define(instance: "pool")
        .define(instance: Pool())
        .include(Payments())
      let pool: Pool = try environment.getBean()
      _ = pool
      }
      """
    #expect(try SwiftProgram(source: Self.types + calls).errors().isEmpty)
  }
}
