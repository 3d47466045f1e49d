/// The value of an option of the command line that has none, such as `--verbose`: true, and no other value.
struct BareOption: Sendable, CustomStringConvertible {
  /// The option, with its dashes.
  let option: String

  var description: String { "true" }

  /// Returns the conversion to a type: to any but a Boolean, one that fails.
  static func conversion(to target: Any.Type) -> Conversion {
    { value in
      if target == Bool.self { return true }
      let option = (value as? BareOption)?.option ?? "--key"
      throw ConversionFailure("the option has no value: write \(option)=value, or \(option) value")
    }
  }
}
