/// A fault as scenarios compare it: its code, and the declaration that it is about.
struct Fault: Error, Hashable, Comparable {
  let code: String
  let declaration: Int?

  /// Returns the text of faults. The owners of captive dependencies are not compared if there are circles.
  static func text(_ faults: [Fault]) -> String {
    let hasCircle = faults.contains { $0.code == "cyclicDependency" }
    let compared = Set(faults).filter { !hasCircle || !["captiveDependency", "scopeNotActive"].contains($0.code) }
    return "fault "
      + compared.sorted().map { "\($0.code)@\($0.declaration.map { "d\($0)" } ?? "-")" }.joined(separator: " ")
  }

  static func < (one: Fault, other: Fault) -> Bool {
    (one.declaration ?? -1, one.code) < (other.declaration ?? -1, other.code)
  }
}
