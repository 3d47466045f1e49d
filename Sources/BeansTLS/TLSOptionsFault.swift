/// The reason why `TLSOptions` cannot be used, with a remedy. Contains no secret.
struct TLSOptionsFault: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  static let noMemory = TLSOptionsFault("OpenSSL has not enough memory")
}
