/// Here, because it logs.
extension LogFormatter {
  /// The time of the entry, in local time.
  ///
  /// A letter that is no field is copied, and reported as a warning of the logger `Beans.Logging`.
  ///
  /// - Parameters:
  ///   - pattern: a date pattern of the letters `y M d H h m s S a E Z`, repeated for width ("MMM" and "EEE" are short
  ///     English names, "ZZZZZ" is "+01:00"). `'…'` quotes text; any other character is copied.
  ///   - file: the source file of the call, for the warning.
  ///   - line: the line of the call.
  public static func timestamp(
    _ pattern: String = LogFormatter.iso8601, file: String = #fileID, line: Int = #line
  ) -> LogFormatter {
    let parsed = TimestampPattern(pattern)
    if let fault = TimestampPattern.fault(of: pattern, parsed.unknownLetters) {
      LogManager.getLogger(forName: "Beans.Logging").warn("\(file):\(line): \(fault)", file: file, line: line)
    }
    return time(parsed)
  }
}
