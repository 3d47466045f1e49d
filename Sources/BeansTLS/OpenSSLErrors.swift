import COpenSSL
import Glibc

/// The errors that OpenSSL keeps for each thread.
enum OpenSSLErrors {
  /// The text of the first error, such as `"no start line"`.
  static var firstText: String {
    let code = ERR_peek_error()
    if ERR_GET_LIB(code) == ERR_LIB_SYS { return unsafe String(cString: strerror(ERR_GET_REASON(code))) }
    return unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "no reason given"
  }

  /// Returns the number of the first error; 0 unless it is one of this library of OpenSSL.
  static func firstReason(in library: Int32) -> Int32 {
    let code = ERR_peek_error()
    return ERR_GET_LIB(code) == library ? ERR_GET_REASON(code) : 0
  }

  /// Forgets all errors. An operation reports those of earlier ones as its own otherwise.
  static func clear() { ERR_clear_error() }
}
