import CLibuv

/// The failure of an operation of an event loop or of a handle.
///
/// Two errors are equal when their codes are equal; the operation and the detail are texts for people. An error
/// allocates at most two strings, and may be passed between threads.
public struct EventLoopError: Error, Equatable, CustomStringConvertible {
  /// The kind of a failure. Opaque, so that codes can be added without breaking a `switch`.
  public struct Code: Hashable, Sendable {
    /// The number of the code: negative for libuv's, positive for this module's own.
    let raw: Int32

    /// `run()` was called while the loop already runs, on this thread or on another one.
    package static let alreadyRunning = Code(raw: 1)
    /// `close()` was called while the loop runs or is being closed.
    package static let stillRunning = Code(raw: 2)
    /// The loop has been closed.
    public static let loopClosed = Code(raw: 3)
    /// `close()` found open handles; the message lists them by kind and place of creation.
    public static let openHandles = Code(raw: 4)
    /// `close()` gave up, because closures keep adding closures to the loop.
    package static let notDrained = Code(raw: 5)
    /// The handle has been closed, or is being closed.
    package static let handleClosed = Code(raw: 6)
    /// A loop's thread would have waited for itself.
    package static let wouldDeadlock = Code(raw: 7)
    /// The layer of a connection has failed, such as TLS.
    package static let layerFailed = Code(raw: 8)
    /// The system does not know the host (`EAI_NONAME`).
    package static let unknownHost = Code(UV_EAI_NONAME)

    /// The peer has closed its side (`EOF`).
    package static let endOfFile = Code(UV_EOF)
    /// The peer reset the connection (`ECONNRESET`).
    package static let connectionReset = Code(UV_ECONNRESET)
    /// No socket listens at the address (`ECONNREFUSED`).
    package static let connectionRefused = Code(UV_ECONNREFUSED)
    /// The peer no longer reads (`EPIPE`).
    package static let brokenPipe = Code(UV_EPIPE)
    /// The address is in use (`EADDRINUSE`).
    public static let addressInUse = Code(UV_EADDRINUSE)
    /// The handle was closed before the operation completed (`ECANCELED`).
    public static let cancelled = Code(UV_ECANCELED)
    /// The address, the port, the signal or another argument cannot be used (`EINVAL`).
    package static let invalidArgument = Code(UV_EINVAL)
    /// The peer did not reply in time (`ETIMEDOUT`).
    package static let timedOut = Code(UV_ETIMEDOUT)
    /// The socket is not connected, or its writing side is shut down (`ENOTCONN`).
    package static let notConnected = Code(UV_ENOTCONN)
    /// The process has too many open files (`EMFILE`).
    package static let tooManyOpenFiles = Code(UV_EMFILE)
    /// The file or directory does not exist (`ENOENT`).
    package static let notFound = Code(UV_ENOENT)
    /// The operation is not permitted (`EACCES`), for example on a port below 1024.
    package static let permissionDenied = Code(UV_EACCES)

    init(raw: Int32) { self.raw = raw }
    init(_ error: uv_errno_t) { raw = error.rawValue }
  }

  /// The kind of the failure.
  public let code: Code
  /// The operation that failed, such as `"listen on 127.0.0.1:80"`.
  package let operation: String
  /// Details beyond the code; empty for most errors.
  package let detail: String

  init(_ code: Code, _ operation: String, detail: String = "") {
    self.code = code
    self.operation = operation
    self.detail = detail
  }

  /// Creates an error from a status of libuv, which is negative.
  init(status: Int32, _ operation: String) {
    self.init(Code(raw: status), operation)
  }

  /// Whether a connection has failed because there is no server to wait for: it refuses connections, its host or its
  /// Unix socket does not exist, or it fails the layer.
  package var meansNoServer: Bool {
    switch code {
    case .connectionRefused, .notFound, .layerFailed: true
    default: Self.resolverCodes.contains(code.raw)
    }
  }

  /// Whether the peer has ended the connection: with a layer, also without the end of the layer.
  package var isByPeer: Bool { [.connectionReset, .brokenPipe, .endOfFile].contains(code) }

  /// The numbers of libuv for errors of `getaddrinfo`.
  private static let resolverCodes = UV_EAI_PROTOCOL.rawValue...UV_EAI_ADDRFAMILY.rawValue

  /// The error number of libuv (negative), or nil when libuv was not involved.
  package var libuvCode: Int32? { code.raw < 0 ? code.raw : nil }

  /// The short name: `"EADDRINUSE"`, or the name of one of this module's own codes.
  package var name: String {
    switch code {
    case .alreadyRunning: "alreadyRunning"
    case .stillRunning: "stillRunning"
    case .loopClosed: "loopClosed"
    case .openHandles: "openHandles"
    case .notDrained: "notDrained"
    case .handleClosed: "handleClosed"
    case .wouldDeadlock: "wouldDeadlock"
    case .layerFailed: "layerFailed"
    default: unsafe Self.text { unsafe uv_err_name_r(code.raw, $0, $1) }
    }
  }

  /// The text for people: operation, reason, name.
  public var description: String {
    var text = "\(operation): \(reason) (\(name))"
    if !detail.isEmpty { text += ": \(detail)" }
    return text
  }

  private var reason: String {
    switch code {
    case .alreadyRunning: "the loop is already running"
    case .stillRunning: "the loop is still running, or is being closed"
    case .loopClosed: "the loop has been closed"
    case .openHandles: "handles are still open"
    case .notDrained: "closures keep adding closures"
    case .handleClosed: "the handle has been closed"
    case .wouldDeadlock: "a thread cannot wait for itself"
    case .layerFailed: "the connection cannot be secured"
    default: unsafe Self.text { unsafe uv_strerror_r(code.raw, $0, $1) }
    }
  }

  // Uses the `_r` functions, because the plain ones leak memory for an unknown number.
  private static func text(_ fill: (UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      unsafe buffer.initialize(repeating: 0)
      guard let base = buffer.baseAddress, let text = unsafe fill(base, buffer.count) else { return "unknown" }
      return unsafe String(cString: text)
    }
  }

  /// Whether both have the same code.
  public static func == (left: EventLoopError, right: EventLoopError) -> Bool { left.code == right.code }
}
