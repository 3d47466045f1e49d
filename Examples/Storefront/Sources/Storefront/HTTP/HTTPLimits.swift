/// The limits of a request, beyond which the server refuses it. All sizes are bytes.
struct HTTPLimits: Sendable, Equatable {
  /// The maximum length of the request line without its line end; more is `414`.
  var requestLine = 8 * 1024
  /// The maximum length of the request line and header fields together, and likewise of the trailer fields of a chunked
  /// body; more is `431`. http-parser itself stops at 80 KiB, so a greater value has no effect.
  var head = 16 * 1024
  /// The maximum number of header fields; more is `431`.
  var fields = 100
  /// The maximum length of the body after chunked decoding; more is `413`.
  var body = 1024 * 1024
}
