import BeansErrors

/// The reason for a failed conversion; becomes a `.conversionFailed` that names the value and the types.
struct ConversionFailure: Error {
  let reason: String

  init(_ reason: String = "") { self.reason = reason }

  /// Returns the error of a failed conversion for any error of its inner parts.
  static func error(_ value: Any, to target: Any.Type, _ cause: any Error) -> EnvironmentError {
    if let error = cause as? EnvironmentError, error.code == .conversionFailed { return error }
    if let failure = cause as? ElementFailure { return failure.error }
    let text = "cannot convert \(quote(value)) (\(type(of: value))) to \(target)"
    guard let failure = cause as? ConversionFailure else {
      return EnvironmentError(
        cause: .throwingConversion, "\(text): \(cause)", steps: [], origin: nil, underlying: [cause])
    }
    return EnvironmentError(.conversionFailed, failure.reason.isEmpty ? text : "\(text): \(failure.reason)")
  }

  /// Returns a value as text for people: on one line, and at most 60 characters long.
  static func quote(_ value: Any) -> String {
    let longest = 60
    let text = (value as? String) ?? "\(value)"
    let short = text.unicodeScalars.prefix(longest)
    let line = short.map { $0.properties.generalCategory == .control ? " " : String($0) }.joined()
    return "'\(line)\(short.endIndex < text.unicodeScalars.endIndex ? "…" : "")'"
  }
}
