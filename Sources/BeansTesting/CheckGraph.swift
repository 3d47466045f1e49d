public import Beans
public import Testing

/// Checks declarations as startup does, and records an issue for each fault at its line. Builds no bean.
///
///     @Test func graph() { checkGraph(Shop.declare) }
///
/// For programs whose build does not check their declarations. Declarations that depend on the configuration are
/// checked with the configuration that `declare` adds, without the values of sources that are beans.
///
/// - Parameters:
///   - declare: makes the declarations of the program, including factories and their children.
///   - sourceLocation: the place of faults without a line of their own.
public func checkGraph(
  _ declare: (Environment) throws -> Void, sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
  var faults: [any Error] = []
  do {
    let environment = try Environment(name: TestEnvironment.name)
    defer { environment.finish() }
    try declare(environment)
    faults = try DeclarationCompiler.faults(of: environment, convertsTexts: true)
  } catch {
    faults = [error]
  }
  for fault in faults {
    Issue.record(fault, sourceLocation: Testing.SourceLocation(fault) ?? sourceLocation)
  }
}
