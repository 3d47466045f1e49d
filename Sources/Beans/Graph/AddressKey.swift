/// A type or an object as a key: hashed by a multiplication, where `ObjectIdentifier` takes some two hundred steps.
///
/// Good enough because nobody chooses addresses to make them collide.
struct AddressKey: Hashable {
  private let address: UInt

  init(_ type: Any.Type) { address = UInt(bitPattern: ObjectIdentifier(type)) }
  init(_ object: AnyObject) { address = UInt(bitPattern: ObjectIdentifier(object)) }

  func hash(into hasher: inout Hasher) { hasher.combine(address) }

  /// What dictionaries ask for: Fibonacci hashing, with the good upper half where they look.
  func _rawHashValue(seed: Int) -> Int {
    let product = address &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: product ^ (product >> 32))
  }
}
