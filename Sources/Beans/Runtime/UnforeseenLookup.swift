/// The answer to a lookup that nobody foresaw.
final class UnforeseenLookup: Sendable {
  let computations: [Computation]
  /// What asks for one value made of all of them; nil where there is one, which is read as it is.
  private let parameter: Parameter?
  private let reading: Reading
  /// Says as much, where the answer is one bean of the environment itself or of one that is no child of a factory.
  let operand: Operand?

  init(_ computation: Computation, _ reading: Reading, operand: Operand? = nil) {
    (computations, parameter) = ([computation], nil)
    (self.reading, self.operand) = (reading, operand)
  }

  init(converting computations: [Computation], _ parameter: Parameter) {
    (self.computations, self.parameter) = (computations, parameter)
    (reading, operand) = (.boxed, nil)
  }

  func evaluate(in environment: Environment) throws -> Argument {
    for computation in computations { try environment.checkCaptivity(of: computation) }
    guard let parameter else { return Argument(try environment.evaluate(computations[0]).object, reading) }
    return try environment.boxed(computations.map { try environment.evaluate($0).takeAny() }, as: parameter)
  }
}
