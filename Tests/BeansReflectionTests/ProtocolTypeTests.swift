import Testing

@testable import BeansReflection

/// The results of reading, of casts and of the compiler are equal.
@Suite struct ProtocolTypeTests {
  private static let types: [Any.Type] = [
    Base.self, Derived.self, Grandchild.self, Other.self, Value.self, Generic<Int>.self, Generic<String>.self,
    GenericChild.self, Failure.self, Acting.self, Int.self, String.self, [Int].self, [Other].self, Value?.self,
    (Int, Int).self, Void.self, (() -> Void).self, Value.Type.self, Any.self, AnyObject.self, (any Plain).self,
    (any Error).self, (any Plain & Bound).self, (any Collection<Int>).self, Never.self, OpaquePointer.self,
  ]

  private static let questions: [(wanted: Any.Type, answer: @Sendable (Any.Type) -> Bool)] = [
    ((any Plain).self, { $0 is any Plain.Type }),
    ((any Refined).self, { $0 is any Refined.Type }),
    ((any Bound).self, { $0 is any Bound.Type }),
    ((any Plain & Bound).self, { $0 is any (Plain & Bound).Type }),
    ((any Based).self, { $0 is any Based.Type }),
    // A cast to `any (Base & Plain).Type` would only test the protocol.
    ((any Base & Plain).self, { $0 is any Plain.Type && $0 is Base.Type }),
    ((any Plain & AnyObject).self, { $0 is any (Plain & AnyObject).Type }),
    ((any Error).self, { $0 is any Error.Type }),
    ((any Error & Plain).self, { $0 is any (Error & Plain).Type }),
    ((any Hashable).self, { $0 is any Hashable.Type }),
    ((any Collection).self, { $0 is any Collection.Type }),
    ((any Actor).self, { $0 is any Actor.Type }),
    ((any Unmet).self, { $0 is any Unmet.Type }),
    (Any.self, { _ in true }),
    (AnyObject.self, { $0 is AnyObject.Type }),
  ]

  @Test func bothWaysAgreeWithTheCompiler() throws {
    for (wanted, answer) in Self.questions {
      let read = try #require(ProtocolType(wanted))
      let cast = try #require(ProtocolType(casting: wanted))
      for type in Self.types {
        let expected = type == wanted || answer(type)
        #expect(read.isMet(by: type) == expected, "\(type) as \(wanted), read")
        #expect(cast.isMet(by: type) == expected, "\(type) as \(wanted), by a cast")
        #expect(TypeRelation.isUsable(type, as: wanted) == expected, "\(type) as \(wanted)")
      }
      #expect(read.hasProtocols == cast.hasProtocols, "\(wanted)")
      #expect(cast.protocols.isEmpty && cast.shape(for: Self.metadata(Other.self)) == nil)
    }
  }

  @Test func otherTypesAreNoProtocolTypes() {
    for type in [Int.self, Base.self, (Int, Int).self, (any Plain).Type.self, (any Collection<Int>).self] as [Any.Type]
    {
      #expect(ProtocolType(type) == nil)
      #expect(ProtocolType(casting: type) == nil)
    }
  }

  @Test func shapesHaveTheWitnessesOfTheirProtocols() throws {
    let other = Self.metadata(Other.self)
    let plain = try #require(TypeRelation.shape(of: (any Plain).self, for: other))
    #expect(!plain.isClassBound)
    #expect(plain.witnesses == [Self.witnesses(Other.self)])
    let bound = try #require(TypeRelation.shape(of: (any Plain & AnyObject).self, for: other))
    #expect(bound.isClassBound && bound.witnesses == plain.witnesses)
    #expect(TypeRelation.shape(of: (any Bound).self, for: other) == nil)
    #expect(TypeRelation.shape(of: (any Error).self, for: Self.metadata(Failure.self)) == nil)
  }

  /// A list that is not a single protocol is left to the caller.
  @Test func listsReportConformancesAndUndecidedTypes() {
    let list = ProtocolList([(any Plain).self, (any Bound).self, Int.self])
    #expect(list.conformances(of: Derived.self) == (0b011, 0b100))
    #expect(list.conformances(of: Base.self) == (0, 0b100))
    #expect(list.conformances(of: Generic<Int>.self) == (0, 0b110))
    #expect(list.conformances(of: (Int, Int).self) == (0, 0b111))
  }

  /// The index leaves out types that cannot have a protocol type, and no type that has it.
  @Test func indexedTypesIncludeAllConformingOnes() throws {
    let index = TypeIndex(Self.types)
    var isLimited = false
    for (wanted, _) in Self.questions {
      let asked = try #require(ProtocolType(wanted))
      guard let positions = index.positions(of: asked) else { continue }
      isLimited = isLimited || positions.count < Self.types.count
      #expect(positions == Array(Set(positions)).sorted())
      for (position, type) in Self.types.enumerated() where type != wanted && asked.isMet(by: type) {
        #expect(positions.contains(Int32(position)), "\(type) as \(wanted)")
      }
    }
    #expect(isLimited)
    // A protocol with more conforming types than the list has limits nothing; neither does a type without a protocol.
    #expect(TypeIndex([Base.self]).positions(of: try #require(ProtocolType((any Hashable).self))) == nil)
    #expect(index.positions(of: try #require(ProtocolType(Any.self))) == nil)
  }

  private static func metadata(_ type: Any.Type) -> UnsafeRawPointer { unsafeBitCast(type, to: UnsafeRawPointer.self) }

  private static func witnesses(_ type: any Plain.Type) -> UnsafeRawPointer {
    // Without `as` the existential would be opened first.
    unsafeBitCast(type as any Plain.Type, to: (UnsafeRawPointer, UnsafeRawPointer).self).1
  }
}

private protocol Plain {}
private protocol Refined: Plain {}
private protocol Bound: AnyObject {}
private protocol Based: Base {}
private protocol Unmet {}
private class Base {}
private class Derived: Base, Plain, Bound, Based {}
private final class Grandchild: Derived {}
private final class Other: Plain {}
private struct Value: Refined {}
private class Generic<Element> {}
extension Generic: Bound where Element == Int {}
private final class GenericChild: Generic<Int> {}
private final class Failure: Error, Plain {}
private actor Acting {}
