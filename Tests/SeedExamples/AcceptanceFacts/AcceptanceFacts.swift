import Testing

/// The facts that the tests of the original established, with their numbers there.
///
/// Left out, because they belong to parts that the container neither needs nor has:
/// - 21: objects to JSON and back. `Codable` is the language's own.
/// - 25: the mapper from object to object.
/// - 27 to 29: promises. `async`, `await` and task groups are the language's own; the guide lists them.
/// - 35: modules that register each other. A parent environment separates technical aspects.
/// - 36 to 38: type descriptors with constraints.
///
/// If the design decided otherwise, the test says so and checks the decision.
@Suite("Acceptance facts") struct AcceptanceFacts {}
