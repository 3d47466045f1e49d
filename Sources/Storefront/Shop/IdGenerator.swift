import BeansServer

/// Makes ids that cannot be guessed: 128 bits from the kernel's generator (`getrandom`), as 32 hexadecimal digits.
/// Two system calls each; safe from any thread.
final class IdGenerator: Sendable {
  init() {}

  func next() -> String { UnguessableId.make() }

  /// Whether `text` could be one of these ids; saves a look-up of what a client made up.
  static func isWellFormed(_ text: String) -> Bool {
    text.utf8.count == 32 && text.utf8.allSatisfy { ASCII.hexValue($0) != nil && ASCII.lowercased($0) == $0 }
  }
}
