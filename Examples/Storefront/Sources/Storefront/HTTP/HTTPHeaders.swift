/// The header fields of one request, in the order in which they were sent.
///
/// Stored as the received bytes plus the offsets of each field, so that reading a request costs two allocations,
/// independent of the number of fields; a `String` is made only for a requested value.
struct HTTPHeaders: Sendable {
  struct Field: Sendable {
    var nameStart: UInt32 = 0
    var nameEnd: UInt32 = 0
    var valueStart: UInt32 = 0
    var valueEnd: UInt32 = 0
  }

  /// The properties that the fields of every request are checked for.
  struct Special {
    /// The number of fields of each kind that decide where a request goes and where it ends.
    var hosts = 0
    var contentLengths = 0
    var transferCodings = 0
    var expectations = 0
    /// The number of `Host` fields that name no host.
    var invalidHosts = 0
    /// The number of fields with a space in their name.
    var namesWithSpace = 0
    /// The number of fields whose value begins with a control character.
    var valuesWithControl = 0
    /// Whether the `Connection` fields list `close`; `keepAlive` likewise.
    var close = false
    var keepAlive = false

    /// Records the options of one `Connection` field.
    mutating func note(connection value: UnsafeRawBufferPointer) {
      var start = 0
      while start < value.count {
        var end = unsafe value[start...].firstIndex(of: UInt8(ascii: ",")) ?? value.count
        let next = end + 1
        while start < end, unsafe ASCII.isBlank(value[start]) { start += 1 }
        while start < end, unsafe ASCII.isBlank(value[end - 1]) { end -= 1 }
        let option = unsafe UnsafeRawBufferPointer(rebasing: value[start..<end])
        if unsafe ASCII.equalIgnoringCase(option, "close") { close = true }
        if unsafe ASCII.equalIgnoringCase(option, "keep-alive") { keepAlive = true }
        start = next
      }
    }
  }

  private let bytes: [UInt8]
  private let fields: [Field]

  init(bytes: [UInt8], fields: [Field]) {
    self.bytes = bytes
    self.fields = fields
  }

  init(_ pairs: [(String, String)] = []) {
    var bytes: [UInt8] = []
    var fields: [Field] = []
    for (name, value) in pairs {
      let nameStart = UInt32(bytes.count)
      bytes.append(contentsOf: name.utf8)
      let valueStart = UInt32(bytes.count)
      bytes.append(contentsOf: value.utf8)
      fields.append(
        Field(nameStart: nameStart, nameEnd: valueStart, valueStart: valueStart, valueEnd: UInt32(bytes.count)))
    }
    self.init(bytes: bytes, fields: fields)
  }

  var count: Int { fields.count }

  /// Returns the value of the first field of that name, ignoring case.
  subscript(name: String) -> String? {
    for field in fields where isNamed(field, name) { return text(field.valueStart, field.valueEnd) }
    return nil
  }

  /// Returns the values of all fields of that name.
  func values(_ name: String) -> [String] {
    fields.filter { isNamed($0, name) }.map { text($0.valueStart, $0.valueEnd) }
  }

  /// Returns the number of fields of that name.
  func count(of name: String) -> Int {
    fields.reduce(0) { isNamed($1, name) ? $0 + 1 : $0 }
  }

  /// Checks each field once. The length of most names differs from the lengths of all names with a check.
  func special() -> Special {
    var special = Special()
    unsafe bytes.withUnsafeBytes { bytes in
      for field in fields {
        let name = unsafe UnsafeRawBufferPointer(rebasing: bytes[Int(field.nameStart)..<Int(field.nameEnd)])
        let value = unsafe UnsafeRawBufferPointer(rebasing: bytes[Int(field.valueStart)..<Int(field.valueEnd)])
        // http-parser checks every byte of a value but the first.
        if let first = unsafe value.first, !ASCII.isFieldText(first) { special.valuesWithControl += 1 }
        switch name.count {
        case 4 where unsafe ASCII.equalIgnoringCase(name, "host"):
          special.hosts += 1
          if unsafe !HTTPAuthority.isValid(value) { special.invalidHosts += 1 }
        case 6 where unsafe ASCII.equalIgnoringCase(name, "expect"): special.expectations += 1
        case 10 where unsafe ASCII.equalIgnoringCase(name, "connection"): unsafe special.note(connection: value)
        case 14 where unsafe ASCII.equalIgnoringCase(name, "content-length"): special.contentLengths += 1
        case 17 where unsafe ASCII.equalIgnoringCase(name, "transfer-encoding"): special.transferCodings += 1
        default: if unsafe name.contains(ASCII.space) { special.namesWithSpace += 1 }
        }
      }
    }
    return special
  }

  /// Runs `body` with the bytes of each value of that name, the last one first, until `body` returns a result.
  func lastValue<R>(_ name: String, where body: (ArraySlice<UInt8>) -> R?) -> R? {
    for field in fields.reversed() where isNamed(field, name) {
      if let result = body(bytes[Int(field.valueStart)..<Int(field.valueEnd)]) { return result }
    }
    return nil
  }

  /// Runs `body` with the bytes of each value of that name until `body` returns a result.
  func firstValue<R>(_ name: String, where body: (ArraySlice<UInt8>) -> R?) -> R? {
    for field in fields where isNamed(field, name) {
      if let result = body(bytes[Int(field.valueStart)..<Int(field.valueEnd)]) { return result }
    }
    return nil
  }

  /// Whether the value of a field of that name is `text`, ignoring case.
  func has(_ name: String, equalTo text: String) -> Bool {
    firstValue(name) { ASCII.equalIgnoringCase($0, text) ? true : nil } ?? false
  }

  private func isNamed(_ field: Field, _ name: String) -> Bool {
    ASCII.equalIgnoringCase(bytes[Int(field.nameStart)..<Int(field.nameEnd)], name)
  }

  private func text(_ start: UInt32, _ end: UInt32) -> String {
    String(decoding: bytes[Int(start)..<Int(end)], as: UTF8.self)
  }
}
