/// SplitMix64: the same numbers for the same seed and number of input.
struct RandomNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64, number: Int) {
    state = seed &* 0xD6E8_FEB8_6659_FD93 ^ UInt64(number)
    // Neighbours would share most of their numbers.
    state = next()
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { limit < 2 ? 0 : Int(next() % UInt64(limit)) }

  /// True once in so many times.
  mutating func once(in times: Int) -> Bool { below(times) == 0 }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
