/// Makes slightly wrong text of right text.
struct Mutation {
  /// Words of the language, worth inserting.
  let words: [String]
  /// Whole inputs, worth splicing in.
  let others: [String]
  private static let longest = 16_384

  func apply(to input: [UInt8], times: Int, _ random: inout RandomNumbers) -> [UInt8] {
    var bytes = input
    for _ in 0..<times { step(&bytes, &random) }
    return Array(bytes.prefix(Self.longest))
  }

  private func step(_ bytes: inout [UInt8], _ random: inout RandomNumbers) {
    let place = random.below(bytes.count + 1)
    let stretch = place..<min(bytes.count, place + 1 + random.below(random.once(in: 3) ? 200 : 12))
    switch random.below(10) {
    case 0: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
    case 1: if place < bytes.count { bytes[place] ^= 1 << UInt8(random.below(8)) }
    case 2, 3: bytes.insert(contentsOf: random.pick(words).utf8, at: place)
    case 4: bytes.removeSubrange(stretch)
    case 5: bytes.insert(contentsOf: Array(bytes[stretch]), at: place)
    case 6:
      let repeated = Array(bytes[stretch])
      for _ in 0..<random.below(random.once(in: 20) ? 400 : 4) { bytes.insert(contentsOf: repeated, at: place) }
    case 7: if !bytes.isEmpty { bytes.swapAt(random.below(bytes.count), random.below(bytes.count)) }
    case 8: bytes.replaceSubrange(stretch, with: random.pick(words).utf8)
    default:
      let other = Array(random.pick(others).utf8)
      let from = random.below(other.count + 1)
      bytes.replaceSubrange(place..., with: other[from...])
    }
  }
}
