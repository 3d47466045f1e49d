import Testing

@testable import Beans

@Suite struct LookupIndexTests {
  private func operand(_ number: Int) -> Operand { Operand(.own(slot: Int32(number)), .reference) }

  private func number(_ operand: Operand?) -> Int? {
    guard case .own(let slot)? = operand?.place else { return nil }
    return Int(slot)
  }

  private func index(_ types: [ObjectIdentifier]) -> LookupIndex {
    LookupIndex(types: types.enumerated().map { ($1, operand($0)) }, named: [])
  }

  private func index(_ named: [(type: ObjectIdentifier, id: String)]) -> LookupIndex {
    LookupIndex(types: [], named: named.enumerated().map { ($1.type, $1.id, operand($0)) })
  }

  // MARK: types

  @Test func anEmptyIndexFindsNothing() {
    let empty = index([] as [ObjectIdentifier])
    let (byType, byId) = (empty.find(ObjectIdentifier(Int.self)), empty.find(ObjectIdentifier(Int.self), ""))
    #expect(byType == nil)
    #expect(byId == nil)
  }

  @Test func thousandsOfTypesAreFound() {
    let types = Self.types(depth: 11).map { ObjectIdentifier($0) }
    #expect(Set(types).count == 4_094)
    let index = index(types.filter { $0.hashValue % 2 == 0 })
    let known = types.filter { $0.hashValue % 2 == 0 }
    for (expected, type) in known.enumerated() where number(index.find(type)) != expected {
      Issue.record("type \(expected) returns \(String(describing: number(index.find(type))))")
    }
    for type in types where type.hashValue % 2 != 0 && index.find(type) != nil { Issue.record("found an absent type") }
  }

  /// The number and the addresses of keys decide which keys collide, and whether the search wraps around.
  @Test func tablesOfEverySizeFindTheirKeysAndNoOthers() {
    let types = Self.types(depth: 8).map { ObjectIdentifier($0) }
    var random = SeededGenerator(seed: 3)
    for count in 0...130 {
      let shuffled = types.shuffled(using: &random)
      let index = index(Array(shuffled.prefix(count)))
      for (expected, type) in shuffled.enumerated() {
        let found = number(index.find(type))
        if found != (expected < count ? expected : nil) { Issue.record("\(expected) of \(count): \(found ?? -1)") }
      }
    }
  }

  @Test func typesAndNamesAreIndependent() {
    let index = LookupIndex(
      types: [(ObjectIdentifier(Int.self), operand(0))], named: [(ObjectIdentifier(String.self), "one", operand(1))])
    let found = [
      index.find(ObjectIdentifier(Int.self)), index.find(ObjectIdentifier(String.self)),
      index.find(ObjectIdentifier(Int.self), "one"), index.find(ObjectIdentifier(String.self), "one"),
    ]
    #expect(found.map { number($0) } == [0, nil, nil, 1])
  }

  // MARK: ids

  @Test func idsOfAllLengthsAreFound() {
    let type = ObjectIdentifier(Int.self)
    for letter in ["a", "ä", "漢", "👩‍👧", "\u{0}"] {
      let ids = (0...80).map { String(repeating: letter, count: $0) } + [String(repeating: letter, count: 5_000)]
      let index = index(ids.map { (type, $0) })
      for (expected, id) in ids.enumerated() {
        #expect(number(index.find(type, id)) == expected)
        // Another string of the same length is not found.
        if let last = id.indices.last { #expect(index.find(type, id.replacingCharacters(at: last, with: "z")) == nil) }
        #expect(index.find(type, id + "z") == nil)
        #expect(index.find(ObjectIdentifier(UInt.self), id) == nil)
      }
    }
  }

  /// A string is found in any storage: in place, on the heap, as a constant of the program.
  @Test func equalIdsOfAnyStorageAreFound() {
    let type = ObjectIdentifier(Int.self)
    let index = index([(type, "short"), (type, "an id that does not fit into a string's own words")])
    let short = String("a short one".dropFirst(2).prefix(5))
    var long = "an id that does not fit"
    long += " into a string's own words"
    let found = [index.find(type, "short"), index.find(type, short), index.find(type, long)]
    #expect(found.map { number($0) } == [0, 0, 1])
  }

  @Test func manyIdsOfManyTypesAreFound() {
    let types = Self.types(depth: 5).map { ObjectIdentifier($0) }
    let ids = ["", "a", "ab", "main", "session store", "a rather long id, of more than sixteen bytes"]
    let keys = types.flatMap { type in ids.map { (type: type, id: $0) } }
    let index = index(keys)
    for (expected, key) in keys.enumerated() where number(index.find(key.type, key.id)) != expected {
      Issue.record("'\(key.id)' returns \(String(describing: number(index.find(key.type, key.id))))")
    }
    for type in types { #expect(index.find(type, "absent") == nil) }
  }

  /// Hashes are taken from 24 bytes at most: these ids differ elsewhere only.
  @Test func idsThatCollideAreDistinguished() {
    let type = ObjectIdentifier(Int.self)
    func id(_ number: Int) -> String { "a prefix" + String(number + 10_000_000) + "in the middle" + "the very suffix" }
    let hashes = Set((0..<300).map { IdHash.of(id($0), in: UInt(bitPattern: type)) })
    #expect(hashes.count == 1)
    let index = index((0..<200).map { (type, id($0)) })
    for number in 0..<200 { #expect(self.number(index.find(type, id(number))) == number) }
    for number in 200..<300 { #expect(index.find(type, id(number)) == nil) }
  }

  /// Equal texts of different bytes may be found by comparing texts; none is confused with another.
  @Test func equalTextsOfDifferentBytesAreNotConfused() {
    let type = ObjectIdentifier(Int.self)
    let ids = ["caf\u{E9}", "\u{C5}ngstr\u{F6}m, longer than sixteen bytes", "\u{AC00}"]
    let others = ["cafe\u{301}", "A\u{30A}ngstro\u{308}m, longer than sixteen bytes", "\u{1100}\u{1161}"]
    #expect(ids == others)
    let composed = index(ids.map { (type, $0) })
    let decomposed = index(others.map { (type, $0) })
    for (expected, (id, other)) in zip(ids, others).enumerated() {
      #expect(number(composed.find(type, id)) == expected)
      #expect(number(decomposed.find(type, other)) == expected)
      #expect([nil, expected].contains(number(composed.find(type, other))))
      #expect([nil, expected].contains(number(decomposed.find(type, id))))
    }
    // Not equal, although they look so.
    for id in ["cafe", "CAF\u{E9}", "\u{212B}ngstrom", "caf\u{435}"] { #expect(composed.find(type, id) == nil) }
  }

  @Test func hashesAreNeverZero() {
    for type in [0, 1, UInt.max, UInt(bitPattern: ObjectIdentifier(Int.self))] {
      for length in 0...40 { #expect(IdHash.of(String(repeating: "\0", count: length), in: type) != 0) }
    }
  }

  // MARK: types by the thousand

  private enum Left<Inner> {}
  private enum Right<Inner> {}

  /// `2 + 4 + … + 2^depth` types.
  private static func types(depth: Int) -> [Any.Type] {
    func grow<Inner>(_ type: Inner.Type) -> [Any.Type] { [Left<Inner>.self, Right<Inner>.self] }
    var (all, last): ([Any.Type], [Any.Type]) = ([], [Never.self])
    for _ in 0..<depth {
      last = last.flatMap { _openExistential($0, do: grow) }
      all += last
    }
    return all
  }
}

extension String {
  fileprivate func replacingCharacters(at index: Index, with text: String) -> String {
    String(self[..<index]) + text + String(self[self.index(after: index)...])
  }
}
