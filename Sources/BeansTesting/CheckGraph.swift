public import Beans
public import Testing

/// Checks declarations as startup does, and records an issue for each fault at the line it names. Builds no bean.
///
///     @Test func graph() { checkGraph(Shop.declare) }
///
/// For programs whose declarations are not checked by their build. What depends on the configuration is checked with the
/// configuration that `declare` brings; values of sources that are beans are not.
///
/// - Parameters:
///   - declare: declares what the program declares, factories and their children included.
///   - sourceLocation: of faults that belong to no line.
public func checkGraph(
  _ declare: (Environment) throws -> Void, sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
  var faults: [any Error] = []
  do {
    let environment = try Environment(name: TestEnvironment.name)
    defer { environment.finish() }
    try declare(environment)
    faults = try environment.findFaults()
  } catch {
    faults = [error]
  }
  for fault in faults {
    Issue.record(fault, sourceLocation: Testing.SourceLocation(fault) ?? sourceLocation)
  }
}
