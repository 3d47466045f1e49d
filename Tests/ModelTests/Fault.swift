/// A fault as scenarios compare it: its code, and the declaration that it is about.
struct Fault: Error, Hashable, Comparable {
  let code: String
  let declaration: Int?

  static func text(_ faults: [Fault]) -> String {
    "fault "
      + Set(faults).sorted().map { "\($0.code)@\($0.declaration.map { "d\($0)" } ?? "-")" }.joined(separator: " ")
  }

  static func < (one: Fault, other: Fault) -> Bool {
    (one.declaration ?? -1, one.code) < (other.declaration ?? -1, other.code)
  }
}
