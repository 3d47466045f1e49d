import BeansErrors

/// The reason for a failed conversion; becomes a `.conversionFailed` that names the value and the types.
struct ConversionFailure: Error {
  let reason: String

  init(_ reason: String = "") { self.reason = reason }

  /// Returns the error of a failed conversion for any error of its inner parts.
  static func error(_ value: Any, to target: Any.Type, _ cause: any Error) -> EnvironmentError {
    if let error = cause as? EnvironmentError, error.code == .conversionFailed { return error }
    if let failure = cause as? ElementFailure { return failure.error }
    let source = Swift.type(of: value)
    let shown = (source as? any SpelledValue.Type)?.numberType ?? source
    let text = "cannot convert \(quote(value)) (\(shown)) to \(target)"
    guard let failure = cause as? ConversionFailure else {
      return EnvironmentError(
        cause: .throwingConversion, "\(text): \(cause)", steps: [], origin: nil, underlying: [cause])
    }
    return EnvironmentError(.conversionFailed, failure.reason.isEmpty ? text : "\(text): \(failure.reason)")
  }

  /// Returns the message of a failed conversion of a secret.
  static func ofSecret(_ source: Any.Type, to target: Any.Type) -> String {
    "cannot convert the secret value (\(source)) to \(target)"
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

/// The reason why an element of a collection does not convert. Each enclosing collection adds the position of the
/// element.
struct ElementFailure: Error {
  /// The positions from the outermost collection inwards; empty if the collection as a whole is faulty.
  private let place: [String]
  private let fault: EnvironmentError

  /// The error of the whole conversion.
  var error: EnvironmentError {
    let place = place.isEmpty ? "" : "\(place.joined(separator: ", ")): "
    return fault.saying(place + fault.message)
  }

  /// Returns the reason for a dictionary of which two keys become one.
  static func repeatedKey(_ key: Any) -> ElementFailure {
    ElementFailure(
      place: [],
      fault: EnvironmentError(cause: .repeatedKey, "two entries have the same key \(ConversionFailure.quote(key))"))
  }

  /// Returns the result of `convert`; attributes its error to the element at that position.
  static func naming<Result>(
    _ place: @autoclosure () -> String, _ element: Any, _ target: Any.Type, _ convert: () throws -> Result
  ) throws -> Result {
    do {
      return try convert()
    } catch let inner as ElementFailure {
      throw ElementFailure(place: [place()] + inner.place, fault: inner.fault)
    } catch {
      throw ElementFailure(place: [place()], fault: ConversionFailure.error(element, to: target, error))
    }
  }
}
