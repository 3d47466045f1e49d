import Beans

/// The faults of syntax, each with its remedy.
extension JSONParser {
  /// Returns the fault of a missing character, or of the end of the file in its place.
  ///
  /// - Parameters:
  ///   - expected: the character and its place.
  ///   - container: the kind of the value around it.
  ///   - opened: the line at which that value begins.
  func missing(_ expected: String, _ container: String, _ opened: Int) -> EnvironmentError {
    next == nil ? unclosed(container, opened) : fault("there is no \(expected): add it")
  }

  func unclosed(_ container: String, _ opened: Int) -> EnvironmentError {
    fault("the file ends within the \(container) that begins in line \(opened)")
  }

  /// Returns the fault at the place of a key.
  func faultOfKey(_ opened: Int, isFirst: Bool) -> EnvironmentError {
    switch next {
    case nil: unclosed("object", opened)
    case UInt8(ascii: "}") where !isFirst: fault("a comma before '}': remove the comma")
    case UInt8(ascii: ","): fault("a comma without a key before it: remove the comma")
    case UInt8(ascii: "'"): fault("a key in single quotes: write it in double quotes")
    default: fault("a key without quotes: write it in double quotes")
    }
  }

  /// Returns the fault at the place of a value.
  func faultOfWord(_ word: String) -> EnvironmentError {
    switch word.lowercased() {
    case "": faultOfSign()
    case "true", "false": fault("'\(word)' is no value: write it in lower case")
    case "none", "nil", "undefined", "null", "~": fault("'\(word)' is no value: write null")
    case "nan", "inf", "infinity": fault("'\(word)' is no number in JSON: write a text or leave the key out")
    case "yes", "no", "on", "off": fault("'\(word)' is no value: write true or false, or a text in double quotes")
    default: fault("'\(word)' is no value: write a text in double quotes")
    }
  }

  private func faultOfSign() -> EnvironmentError {
    switch next {
    case nil: fault("the file ends in the place of a value")
    case UInt8(ascii: "'"): fault("a text in single quotes: write it in double quotes")
    case UInt8(ascii: "+"): fault("a number with the sign '+': leave the sign out")
    case UInt8(ascii: "."): fault("a number without a digit before the point: write 0 before it")
    case UInt8(ascii: ","): fault("a comma without a value before it: remove the comma")
    default: fault("there is no value: write one, or null for none")
    }
  }
}
