extension LogFormatter {
  /// One JSON object for each entry, on one line, for programs that read logs:
  ///
  /// ```json
  /// {"time":"2026-11-25T13:14:00.123+01:00","level":"WARN","logger":"Shop.Orders","message":"late","metadata":{"request":"17"},"thread":"loop 0","file":"Shop/Orders.swift","line":12,"function":"place()"}
  /// ```
  ///
  /// `error` and `stack`, an array of frames, follow `message` where there are any; `metadata` is missing without
  /// metadata, and `file`, `line` and `function` where they are unknown. Strings are escaped, regardless of
  /// `unescaped()`.
  public static func json() -> LogFormatter {
    let time = TimestampPattern(iso8601)
    return LogFormatter(writing: { entry, line in
      line.text += #"{"time":""#
      time.append(CivilTime(entry.timestamp), to: &line.text)
      line.text += #"","level":""# + entry.level.description + "\""
      var object = JSONObject(text: line.text)
      object.add("logger", entry.logger)
      object.add("message", entry.message)
      if let error = entry.error { object.add("error", "\(error)") }
      if let frames = entry.stackTrace?.frames { object.add("stack", frames) }
      if !entry.metadata.isEmpty { object.add("metadata", entry.metadata) }
      object.add("thread", entry.thread)
      if !entry.file.isEmpty { object.add("file", entry.file) }
      if entry.line > 0 { object.add("line", entry.line) }
      if !entry.function.isEmpty { object.add("function", entry.function) }
      line.text = object.text + "}"
    })
  }

  /// A JSON object in the making: each member follows another one.
  private struct JSONObject {
    var text: String

    private mutating func begin(_ name: String) {
      text += ","
      EscapedText.appendJSON(name, to: &text)
      text += ":"
    }

    mutating func add(_ name: String, _ value: String) {
      begin(name)
      EscapedText.appendJSON(value, to: &text)
    }

    mutating func add(_ name: String, _ value: Int) {
      begin(name)
      text += String(value)
    }

    mutating func add(_ name: String, _ values: [String]) {
      begin(name)
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        EscapedText.appendJSON(value, to: &text)
      }
      text += "]"
    }

    mutating func add(_ name: String, _ values: LogMetadata) {
      begin(name)
      text += "{"
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        EscapedText.appendJSON(value.key, to: &text)
        text += ":"
        EscapedText.appendJSON(value.value, to: &text)
      }
      text += "}"
    }
  }
}
