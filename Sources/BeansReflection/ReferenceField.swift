/// A stored property that is a strong reference, or an optional one: a word in the memory of its owner.
@usableFromInline
package struct ReferenceField {
  @usableFromInline package let offset: Int

  @inlinable
  package init(offset: Int) { self.offset = offset }
}
