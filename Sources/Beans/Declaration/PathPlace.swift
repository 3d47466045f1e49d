import Synchronization

/// Where in an object a key path ends, once that is known.
///
/// A key path does not say whether it ends in memory or in code, and Swift follows it step by step each time, which costs
/// a hundred times as much as a store. But it shows when it is followed: a stored property that nobody can override or
/// observe is changed where it stands, in the object, everything else in a copy that is written back. So the first time
/// tells, and from then on the property is stored directly.
@usableFromInline
final class PathPlace: Sendable {
  private static let (unknown, nowhere) = (0, -1)

  /// From the start of an instance, where its class stands.
  private let offset = Atomic(unknown)
  /// Whether the property is a reference to an object, or an optional one.
  private let isReference: Bool

  /// Of a property of that size.
  @usableFromInline
  init(_ dependency: Dependency, size: Int) {
    isReference = dependency.isReference && size == MemoryLayout<UnsafeRawPointer>.size
  }

  /// The property, if it is known to be one strong reference in memory.
  @inline(__always)
  var field: ReferenceField? {
    let offset = offset.load(ordering: .relaxed)
    return isReference && offset > 0 ? ReferenceField(offset: offset) : nil
  }

  /// The property's memory, if it is known to have some.
  @usableFromInline
  func memory(in object: AnyObject) -> UnsafeMutableRawPointer? {
    let offset = offset.load(ordering: .relaxed)
    return offset <= 0 ? nil : Unmanaged.passUnretained(object).toOpaque() + offset
  }

  /// The path has ended there: keeps that if it is the place of one of the object's stored properties, and the path names
  /// that and nothing on the way to it, which might only now lead back to the object.
  @usableFromInline @inline(never)
  func learn(_ place: UnsafeRawPointer, _ path: AnyKeyPath, in object: AnyObject) {
    if offset.load(ordering: .relaxed) == Self.nowhere { return }
    let (root, value) = (Swift.type(of: path).rootType, Swift.type(of: path).valueType)
    let distance = place - UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    var next: AnyClass? = Swift.type(of: object)
    while let owner = next {
      if let field = StoredField.declared(by: owner).first(where: { $0.offset == distance && $0.type == value }),
        "\(path)" == "\\\(root).\(field.name)"
      {
        offset.store(distance, ordering: .relaxed)
        return
      }
      next = _getSuperclass(owner)
    }
    offset.store(Self.nowhere, ordering: .relaxed)
  }
}
