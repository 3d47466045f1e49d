import Glibc

/// Why a log destination cannot be made.
public struct LogError: Error, Sendable, CustomStringConvertible {
  /// What was wrong, with the file or folder that is meant.
  public let message: String
  /// The system's number (`errno`), or 0 where the fault was not the system's.
  public let number: Int32

  init(_ message: String, number: Int32 = 0) {
    self.message = message
    self.number = number
  }

  /// The message, and what the system says.
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
