/// The entry of a definition in the directory of its environment, which outlives startup.
extension BeanDefinition {
  /// Returns the entry.
  ///
  /// - Parameter hasSeed: whether the first bean of the environment is a seed.
  func directoryEntry(hasSeed: Bool) -> BeanDirectory.Entry {
    BeanDirectory.Entry(
      type: type, id: id, lifetime: lifetime, isPrimary: spec.isPrimary, isSeed: entry == 0 && hasSeed,
      maker: maker?.type, product: factory.product?.type, isLazy: spec.isLazy ?? false, location: spec.location,
      traits: traits)
  }

  /// Returns the entry of a bean that may have options which few beans have.
  func directoryEntryWithOptions(hasSeed: Bool) -> BeanDirectory.Entry {
    var entry = directoryEntry(hasSeed: hasSeed)
    if spec.options == nil, decorated == nil { return entry }
    entry.options = BeanDirectory.EntryOptions(
      decorated: decorated?.value, qualifiers: spec.qualifiers.map { ObjectIdentifier($0) },
      privateTo: spec.privateTo, sharing: spec.sharing)
    return entry
  }
}
