import BeansServer

/// Makes ids that cannot be guessed: 128 bits from the kernel's generator (`getrandom`), as 32 hexadecimal digits.
/// Two system calls each; safe from any thread.
final class IdGenerator: Sendable {
  init() {}

  func next() -> String { UnguessableId.make() }
}
