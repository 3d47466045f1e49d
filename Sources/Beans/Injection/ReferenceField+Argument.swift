extension ReferenceField {
  /// Stores the argument, taking over its reference where it has one; false for one that is no object as it is.
  ///
  /// What a request sets by name it nearly always sets so: without a type that only the runtime would know.
  @inline(__always)
  func take(_ argument: Argument, into owner: AnyObject) -> Bool {
    if argument.rest > 1 { return false }
    if !argument.isOwned, let object = argument.object { _ = Unmanaged<AnyObject>.fromOpaque(object).retain() }
    withExtendedLifetime(owner) {
      let word = (Unmanaged.passUnretained(owner).toOpaque() + offset).assumingMemoryBound(to: UnsafeRawPointer?.self)
      let old = word.pointee
      word.pointee = argument.object
      // Last: what its `deinit` calls may read the property.
      if let old { Unmanaged<AnyObject>.fromOpaque(old).release() }
    }
    return true
  }
}
