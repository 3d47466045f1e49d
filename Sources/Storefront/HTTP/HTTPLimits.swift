/// What a client may send before it is refused. All sizes are bytes.
struct HTTPLimits: Sendable, Equatable {
  /// Request line without its line end; more is `414`.
  var requestLine = 8 * 1024
  /// Request line and header fields together, and likewise the trailer fields of a chunked body; more is `431`.
  /// http-parser itself stops at 80 KiB, so a greater value has no effect.
  var head = 16 * 1024
  /// Number of header fields; more is `431`.
  var fields = 100
  /// Body after chunked decoding; more is `413`.
  var body = 1024 * 1024
}
