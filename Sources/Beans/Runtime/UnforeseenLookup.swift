/// The result of a lookup that the plan does not foresee.
final class UnforeseenLookup: Sendable {
  let computations: [Computation]
  /// The parameter for one value made of all computations; nil where there is one computation, whose object is read as
  /// it is.
  private let parameter: Parameter?
  private let reading: Reading
  /// The equivalent operand, where the result is one bean of the environment itself or of one that is not a child of a
  /// factory.
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
