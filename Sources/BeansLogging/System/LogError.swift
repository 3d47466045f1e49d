#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The reason why a log destination cannot be created.
public struct LogError: Error, Sendable, CustomStringConvertible {
  /// The fault, with the file or folder concerned.
  let message: String
  /// The error number of the system (`errno`), or 0 for a fault that the system did not report.
  package let number: Int32

  init(_ message: String, number: Int32 = 0) {
    self.message = message
    self.number = number
  }

  /// The fault, with the file or folder concerned, and the system's text for its error number, if there is one.
  public var description: String { number == 0 ? message : "\(message): \(Self.text(of: number))" }

  static func text(of number: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let text = buffer.baseAddress, unsafe strerror_r(number, text, buffer.count) == 0 else {
        return "error \(number)"
      }
      return unsafe String(cString: text)
    }
  }
}
