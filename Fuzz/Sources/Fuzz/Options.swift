/// The options of the command line.
struct Options {
  enum Target: String, CaseIterable {
    case xml, placeholder, conversion, set, variables, arguments, json, yaml

    func make() throws -> any FuzzTarget {
      switch self {
      case .xml: XMLTarget()
      case .placeholder: try PlaceholderTarget()
      case .conversion: ConversionTarget()
      case .set: try SetTarget()
      case .variables: VariablesTarget()
      case .arguments: CommandLineTarget()
      case .json: FileTarget.json
      case .yaml: FileTarget.yaml
      }
    }
  }

  struct Refused: Error, CustomStringConvertible { let description: String }

  let target: Target
  var inputs = 1_000_000
  var seed: UInt64 = 1
  var input: String?
  var record: String
  /// True under a sanitizer that looks for leaks, whose records of allocations grow.
  var isSanitized = false

  static let usage = """
    usage: Fuzz \(Target.allCases.map(\.rawValue).joined(separator: "|")) [--inputs n] [--seed n] [--record file] [--sanitized]
             n inputs; the same ones for the same seed. Each is in the file (fuzz-<target>.input) before it is used.
             Whether memory grows is left to the sanitizer where there is one
           Fuzz <target> --input file
             the one input in that file, such as a recorded one

    """

  init(_ arguments: some Sequence<String>) throws(Refused) {
    var rest = Array(arguments)[...]
    guard let target = Target(rawValue: rest.popFirst() ?? "") else { throw Refused(description: "no such target") }
    self.target = target
    record = "fuzz-\(target.rawValue).input"
    while let name = rest.popFirst() {
      if name == "--sanitized" {
        isSanitized = true
        continue
      }
      let text = rest.popFirst() ?? ""
      switch name {
      case "--inputs": inputs = Int(try number(name, text))
      case "--seed": seed = UInt64(try number(name, text))
      case "--input": input = text
      case "--record": record = text
      default: throw Refused(description: "no option '\(name)'")
      }
    }
  }

  private func number(_ name: String, _ text: String) throws(Refused) -> UInt32 {
    guard let value = UInt32(text), value > 0 else { throw Refused(description: "'\(name)' wants a number above 0") }
    return value
  }
}
