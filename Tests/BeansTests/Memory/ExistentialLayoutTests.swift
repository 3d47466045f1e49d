import TestSupport
import Testing

@testable import Beans

@Suite struct ExistentialLayoutTests {
  /// Returns a value of the requested type, read once through a layout and once by a cast.
  private func pair<Value>(
    _ object: Canary, as type: Value.Type, of known: AnyClass? = nil
  ) -> (read: Value, cast: Value)? {
    guard let layout = ExistentialLayout.of(type, for: ObjectIdentifier(known ?? Swift.type(of: object))),
      let cast = object as? Value
    else { return nil }
    let read = Reading(layout).take(ObjectReference(object), as: type)
    withExtendedLifetime(layout) {}
    return (read, cast)
  }

  @Test func aClassBoundProtocolIsReadAsByACast() throws {
    let object = Parrot(Counter())
    let (read, cast) = try #require(pair(object, as: (any Bird).self))
    #expect(read === object && cast === object)
    #expect(read.voice == cast.voice)
  }

  @Test func anUnboundProtocolIsReadAsByACast() throws {
    let object = Parrot(Counter())
    let (read, cast) = try #require(pair(object, as: (any Speaker).self))
    #expect(read as? Parrot === object && cast as? Parrot === object)
    #expect(read.say("a") == cast.say("a"))
    #expect([opened(read), opened(cast)] == [ObjectIdentifier(Parrot.self), ObjectIdentifier(Parrot.self)])
  }

  @Test func compositionsAreReadAsByACast() throws {
    let object = Parrot(Counter())
    let (bound, boundCast) = try #require(pair(object, as: (any Bird & Speaker).self))
    #expect(bound === object && boundCast === object)
    #expect([bound.voice, bound.say("b")] == [boundCast.voice, boundCast.say("b")])
    let (open, openCast) = try #require(pair(object, as: (any Speaker & Walker & Flier).self))
    #expect(open as? Parrot === object)
    #expect([open.say("c"), open.walk, open.fly] == [openCast.say("c"), openCast.walk, openCast.fly])
    let (object1, _) = try #require(pair(object, as: (any AnyObject & Walker).self))
    #expect(object1 === object && object1.walk == "walks")
    let (sendable, sendableCast) = try #require(pair(object, as: (any Bird & Sendable).self))
    #expect(sendable === object && sendable.voice == sendableCast.voice)
  }

  @Test func aRefiningProtocolIsReadAsByACast() throws {
    let object = Parrot(Counter())
    let (read, cast) = try #require(pair(object, as: (any Acrobat).self))
    #expect([read.walk, read.fly, read.trick] == [cast.walk, cast.fly, cast.trick])
    #expect(read as? Parrot === object)
  }

  /// A layout gives the result of a cast; without a layout, values are cast.
  @Test func otherTypesAreReadAsByACast() {
    let object = Parrot(Counter())
    func check<Value>(_ type: Value.Type) {
      guard let (read, cast) = pair(object, as: type) else { return }
      #expect(read as AnyObject === object && cast as AnyObject === object, "\(type)")
      #expect(Swift.type(of: read as Any) == Swift.type(of: cast as Any), "\(type)")
    }
    check(Any.self)
    check(AnyObject.self)
    check((any Sendable).self)
    check((any Error).self)
    check((any Hashable).self)
    check((any Canary & Bird).self)
    check((any Canary & Speaker & Walker).self)
    check((any Nest<Int>).self)
    check((any Nest).self)
    check((any Bird)?.self)
    check((any Bird.Type).self)
    check(Canary.self)
    check(Canary?.self)
  }

  @Test func unfittingTypesHaveNoLayout() {
    func hasLayout(_ type: Any.Type, for identity: AnyClass) -> Bool {
      ExistentialLayout.of(type, for: ObjectIdentifier(identity)) != nil
    }
    // Not conforming.
    #expect(!hasLayout((any Bird).self, for: Canary.self))
    #expect(!hasLayout((any Bird & Hashable).self, for: Parrot.self))
    // Not protocols.
    #expect(!hasLayout(Parrot.self, for: Parrot.self))
    #expect(!hasLayout((any Bird)?.self, for: Parrot.self))
    #expect(!hasLayout(Int.self, for: Parrot.self))
    // Made in another way.
    #expect(!hasLayout((any Error).self, for: Parrot.self))
  }

  @Test func aSubclassFallsBackToACast() throws {
    let (object, parrot) = (GreyParrot(Counter()), Parrot(Counter()))
    let layout = try #require(ExistentialLayout.of((any Bird).self, for: ObjectIdentifier(Parrot.self)))
    #expect(layout.fits(ObjectReference(unretained: parrot)))
    #expect(!layout.fits(ObjectReference(unretained: object)))
    withExtendedLifetime((object, parrot)) {}

    let (bound, boundCast) = try #require(pair(object, as: (any Bird).self, of: Parrot.self))
    #expect(bound === object && boundCast === object)
    #expect(bound.voice == "grey squawk")
    let (open, _) = try #require(pair(object, as: (any Speaker & Walker).self, of: Parrot.self))
    #expect(open as? GreyParrot === object)
    #expect(opened(open) == ObjectIdentifier(GreyParrot.self))
    #expect(open.say("d") == "grey d")
    // A subclass with a layout of its own needs no cast.
    let (own, _) = try #require(pair(object, as: (any Bird).self))
    #expect(own === object && own.voice == "grey squawk")
  }

  /// A value takes over the count with which it is created: no object is deallocated early, and none leaks.
  @Test(arguments: [false, true])
  func countsAreBalanced(isSubclass: Bool) throws {
    let ended = Counter()
    func read<Value>(_ type: Value.Type) throws {
      let before = ended.value
      do {
        let layout = try #require(ExistentialLayout.of(type, for: ObjectIdentifier(Parrot.self)))
        let object = ObjectReference(isSubclass ? GreyParrot(ended) : Parrot(ended))
        object.retain()
        let value = Reading(layout).take(object, as: type)
        object.release()
        #expect(ended.value == before)
        withExtendedLifetime((value, layout)) {}
      }
      #expect(ended.value == before + 1, "\(type)")
    }
    try read((any Bird).self)
    try read((any Speaker).self)
    try read((any Bird & Speaker).self)
    try read((any Speaker & Walker & Flier).self)
  }

  // MARK: other readings

  @Test func classesAndBoxesAreReadDirectly() {
    let ended = Counter()
    do {
      let parrot = Parrot(ended)
      #expect(Reading.reference.take(ObjectReference(parrot), as: Parrot.self) === parrot)
      #expect(Reading.reference.take(ObjectReference(parrot), as: Canary.self) === parrot)
      #expect(Reading.reference.take(ObjectReference(parrot), as: Parrot?.self) === parrot)
      let boxed = ValueBox([parrot])
      #expect(Reading.boxed.take(ObjectReference(boxed), as: [Parrot].self).first === parrot)
      #expect(Reading.boxed.take(ObjectReference(ValueBox(7)), as: Int.self) == 7)
      #expect(Reading.boxed.take(ObjectReference(ValueBox<String?>(nil)), as: String?.self) == nil)
    }
    #expect(ended.value == 1)
  }
}

/// Returns the type that generic code reads from a value: the one stored beside the reference.
private func opened<Value>(_ value: Value) -> ObjectIdentifier { ObjectIdentifier(Value.self) }

private protocol Bird: AnyObject { var voice: String { get } }
private protocol Speaker { func say(_ text: String) -> String }
private protocol Walker { var walk: String { get } }
private protocol Flier { var fly: String { get } }
private protocol Acrobat: Walker, Flier { var trick: String { get } }
private protocol Nest<Egg> { associatedtype Egg }

private class Parrot: Canary, Bird, Speaker, Acrobat, Nest, @unchecked Sendable {  // adds no state
  typealias Egg = Int
  var voice: String { "squawk" }
  func say(_ text: String) -> String { text }
  var walk: String { "walks" }
  var fly: String { "flies" }
  var trick: String { "loops" }
}

private final class GreyParrot: Parrot, @unchecked Sendable {  // adds no state
  override var voice: String { "grey squawk" }
  override func say(_ text: String) -> String { "grey \(text)" }
}
