/// One way of doing a scenario's operation.
struct Contestant {
  let name: String
  /// Does the operation so many times.
  let run: (_ count: Int) throws -> Void
  /// Does its first half so many times, hands the results to `held`, and does the second half afterwards. Nil where an
  /// operation leaves nothing alive.
  let hold: ((_ count: Int, _ held: () -> Void) throws -> Void)?

  init(
    _ name: String, run: @escaping (_ count: Int) throws -> Void,
    hold: ((_ count: Int, _ held: () -> Void) throws -> Void)? = nil
  ) {
    self.name = name
    self.run = run
    self.hold = hold
  }
}
