/// Creates an environment, makes it ready, runs `body`, and shuts the environment down, also if `body` throws.
///
/// ```swift
/// try await withEnvironment("shop", declare: declareShop) { shop in
///   try await shop.getBean(Importer.self).importAll()
/// }
/// ```
///
/// For programs and tools that do one thing; a service calls `Environment.run(until:)`. If `body` throws, the beans receive
/// the outcome `.failed`. `body` runs on the caller's actor.
///
/// - Parameters:
///   - name: the name in reports and errors.
///   - options: additional checks and records of the startup.
///   - file: the source file of the call, for error messages.
///   - line: the line of the call.
///   - declare: declares the beans.
///   - body: uses the environment.
/// - Returns: the result of `body`.
/// - Throws: the errors of `declare`, of `Environment.ready()` and of `body`; if all succeed, the failures of releases.
public nonisolated(nonsending) func withEnvironment<Result>(
  _ name: String = "environment", options: Set<StartupOption> = [], file: StaticString = #fileID, line: UInt = #line,
  declare: (Environment) throws -> Void, _ body: nonisolated(nonsending) (Environment) async throws -> Result
) async throws -> Result {
  let environment = try Environment(name: name, file: file, line: line)
  let result: Result
  do {
    try declare(environment)
    try await environment.ready(options: options, file: file, line: line)
    result = try await body(environment)
  } catch {
    environment.noteOutcome(failing: error)
    // The failures of releases are in the log.
    try? await environment.shutdown(file: file, line: line)
    throw error
  }
  try await environment.shutdown(file: file, line: line)
  return result
}
