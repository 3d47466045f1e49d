/// A section of the configuration that checks itself.
///
/// `getConfiguration(_:prefix:)` and `Environment.define(_:configuration:)` call `validate()` when all values have been
/// read; for a type within another one, before that of the outer type.
public protocol ValidatedConfiguration: Decodable {
  /// Checks the values, such as relations between them. Called at most twice, on the thread that reads the section.
  ///
  /// - Throws: any error; it arrives in the fault of the section. Its text must not contain secrets.
  func validate() throws
}
