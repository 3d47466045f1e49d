/// The types of a list, by the descriptors that conformances name: to find the types that a protocol requires, without a
/// check of each type.
package struct TypeIndex: Sendable {
  private let count: Int
  /// The positions of types, by the descriptor of the type itself or of a superclass.
  private var byDescriptor: [Address: [Int32]] = [:]
  /// The positions of types of which only the runtime knows the conformances.
  private var unknown: [Int32] = []

  package init(_ types: some Collection<Any.Type>) {
    count = types.count
    for (position, type) in types.enumerated() {
      var next: UnsafeRawPointer? = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
      while let current = unsafe next {
        guard let descriptor = unsafe Conformers.descriptor(of: current) else {
          unknown.append(Int32(position))
          break
        }
        unsafe byDescriptor[Address(descriptor), default: []].append(Int32(position))
        unsafe next = unsafe Conformers.superclass(of: current)
      }
    }
  }

  /// Returns the positions of the types that may have a protocol type, in ascending order: a superset of those for which
  /// `ProtocolType.isMet` is true, apart from the protocol type itself. Nil if that may be any type of the list.
  ///
  /// Costs a probe for each type of the program that conforms to the rarest of the protocols.
  package func positions(of wanted: ProtocolType) -> [Int32]? {
    guard let conforming = wanted.rarestConformers, conforming.count < count else { return nil }
    let found = conforming.reduce(into: Set(unknown)) { found, descriptor in
      if let positions = byDescriptor[descriptor] { found.formUnion(positions) }
    }
    return found.sorted()
  }
}
