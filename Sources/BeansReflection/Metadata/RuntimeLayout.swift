/// Checks that the runtime's data has the form in which this module reads it.
///
/// Each part is verified once, at its first use, on types for which the compiler provides the same facts. If a check
/// fails, the module takes a slower way without that layout, or refuses the operation.
enum RuntimeLayout {
  /// Whether metadata of protocol types, and the images' conformance records, have the expected form.
  static let hasConformances: Bool = {
    guard let plain = read((any Plain).self), let bound = read((any Parent & Bound & Other).self),
      let error = read((any Error).self), let all = read(Any.self)
    else { return false }
    let isRead =
      unsafe !plain.isClassBound && !plain.isSpecial && plain.superclass == nil && plain.witnessCount == 1
      && plain.protocols.count == 1 && bound.isClassBound && bound.superclass == Parent.self && bound.witnessCount == 2
      && bound.protocols.count == 2 && error.isSpecial && !all.isClassBound && all.protocols.isEmpty
    guard isRead, let conformers = unsafe ConformanceTable.conformers(of: [Address(plain.protocols[0])])[0] else {
      return false
    }
    // Such a value is the type and its witness table. Without `as`, the compiler would open the value first.
    let (_, witnesses) = unsafe unsafeBitCast(
      Parent.self as any Plain.Type, to: (UnsafeRawPointer, UnsafeRawPointer).self)
    let expected: [(Any.Type, Conformance)] = unsafe [
      (Parent.self, .certain(Address(witnesses))), (Child.self, .certain(Address(witnesses))), (Stranger.self, .absent),
      (Int.self, .absent), (Conditional<Int>.self, .uncertain), ((Int, Int).self, .uncertain),
    ]
    return expected.allSatisfy { type, conformance in
      unsafe conformers.conformance(of: unsafeBitCast(type, to: UnsafeRawPointer.self)) == conformance
    }
  }()

  /// Whether the records of stored properties have the expected form.
  static let hasFieldRecords: Bool = {
    guard let fields = FieldRecords(of: Fields.self), let others = FieldRecords(of: OtherFields.self) else {
      return false
    }
    return fields.ownership(at: 0) == .weak && fields.ownership(at: 1) == .unowned
      && fields.ownership(at: 2) == .unmanaged && fields.hasUnderscored && !others.hasUnderscored
  }()

  /// Whether the records of an enum's cases have the expected form.
  static let hasCaseRecords =
    FieldRecords(ofEnum: ContextDescriptor.Kind.self)?.names
    == ["module", "extension", "anonymous", "protocol", "class", "struct", "enum"]

  /// Whether descriptors of types, and the images' lists of them, have the expected form.
  static let hasDescriptors: Bool = {
    func isListed(_ names: [String], _ kind: ContextDescriptor.Kind, _ type: Any.Type?) -> Bool {
      ContextDescriptor.all(named: names[0]).contains {
        $0.kind == kind && $0.type == type && $0.names == names + ["BeansReflection"]
      }
    }
    return isListed(["Stranger"], .class, Stranger.self)
      && isListed(["Kind", "ContextDescriptor"], .enum, ContextDescriptor.Kind.self)
      && isListed(["Plain"], .protocol, nil)
  }()

  /// Whether metadata of tuples and metatypes, and the flags of all values, have the expected form.
  static let hasValueLayout: Bool = {
    let unique = unsafe unsafeBitCast(Unique.self as any (~Copyable).Type, to: UnsafeRawPointer.self)
    let copied = [Int.self, String.self, Stranger.self, (Int, String).self] as [Any.Type]
    return unsafe MetadataKind.of((Int, String).self) == MetadataKind.tuple
      && ValueMetadata.elements((Int, String).self).elementsEqual([Int.self, String.self], by: ==)
      && MetadataKind.of(Int.Type.self) == MetadataKind.metatype && ValueMetadata.instance(Int.Type.self) == Int.self
      && ValueMetadata.isNoncopyable(unique)
      && copied.allSatisfy { unsafe !ValueMetadata.isNoncopyable(unsafeBitCast($0, to: UnsafeRawPointer.self)) }
  }()

  private static func read(_ type: Any.Type) -> ExistentialMetadata? {
    guard MetadataKind.of(type) == MetadataKind.existential else { return nil }
    return unsafe ExistentialMetadata(unsafeBitCast(type, to: UnsafeRawPointer.self))
  }
}

private protocol Plain {}
private protocol Bound: AnyObject {}
private protocol Other {}
private class Parent: Plain {}
private final class Child: Parent {}
private final class Stranger {}
private struct Conditional<Element> {}
extension Conditional: Plain where Element: Plain {}
private struct Unique: ~Copyable {}
private class Fields {
  weak var first: Stranger?
  unowned let second: Stranger
  unowned(unsafe) let third: Stranger
  let _fourth = 0

  init(_ stranger: Stranger) {
    second = stranger
    unsafe third = stranger
  }
}
private class OtherFields { let only = 0 }
