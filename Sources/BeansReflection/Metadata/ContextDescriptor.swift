import CBeansRuntime

/// The compiler's record of a named type, a protocol, or an enclosing context. The first four words are flags, parent,
/// name (for an extension, the mangled name of the extended type), and type accessor.
@safe struct ContextDescriptor {
  enum Kind: UInt32 {
    case module, `extension`, anonymous, `protocol`
    case `class` = 16
    case `struct`, `enum`
  }

  let address: UnsafeRawPointer

  /// The kind; nil for contexts without a spelling in source.
  var kind: Kind? { Kind(rawValue: flags & 0x1F) }

  /// The name without module and enclosing types; nil for contexts without a name.
  var name: UnsafePointer<CChar>? {
    switch kind {
    case nil, .extension, .anonymous: nil
    default: unsafe address.target(at: 8)?.assumingMemoryBound(to: CChar.self)
    }
  }

  /// The type or module that contains this declaration; nil for a module.
  var parent: ContextDescriptor? {
    var context = self
    while let parent = context.enclosing {
      switch parent.kind {
      case .extension:
        if let extended = parent.extendedType { return extended }
      case .anonymous: break
      default: return parent
      }
      // Private and local types are nested in nameless contexts.
      context = parent
    }
    return nil
  }

  /// The names of the declaration, of the enclosing types and of the module.
  var names: [String] {
    sequence(first: self, next: \.parent).map { unsafe $0.name.map { unsafe String(cString: $0) } ?? "?" }
  }

  /// Whether the type, or an enclosing one, has generic parameters.
  var isGeneric: Bool {
    let mark: UInt32 = 0x80
    return sequence(first: self, next: \.enclosing).contains { $0.flags & mark != 0 }
  }

  /// The type, if it is not generic.
  var type: Any.Type? {
    switch kind {
    case .class, .struct, .enum: break
    default: return nil
    }
    guard !isGeneric, let accessor = unsafe address.target(at: 12) else { return nil }
    return unsafe beans_metadata(accessor).map { unsafe unsafeBitCast($0, to: Any.Type.self) }
  }

  /// Returns the types and protocols of that own name, or all, from all loaded images.
  static func all(named name: String?) -> [ContextDescriptor] {
    var found: [ContextDescriptor] = []
    let images = unsafe LoadedImages.sections
    for index in unsafe images.indices {
      for section in unsafe [images[index].protocols, images[index].types] {
        unsafe section.forEachReference { reference in
          guard let descriptor = unsafe ContextDescriptor(listedAt: reference) else { return }
          if let name, !descriptor.isNamed(name) { return }
          found.append(descriptor)
        }
      }
    }
    return found
  }

  /// Creates the descriptor that a reference in a section leads to. The lowest bit marks an indirect address; for
  /// types, the next bit belongs to a kind of reference that is not used here.
  private init?(listedAt reference: UnsafeRawPointer) {
    guard unsafe reference.load(as: Int32.self) & 2 == 0, let address = unsafe reference.indirectTarget() else {
      return nil
    }
    unsafe self.init(address: address)
  }

  init(address: UnsafeRawPointer) { unsafe self.address = unsafe address }

  private var flags: UInt32 { unsafe address.load(as: UInt32.self) }
  private var enclosing: ContextDescriptor? {
    unsafe address.indirectTarget(at: 4).map { unsafe ContextDescriptor(address: $0) }
  }

  /// The type that an extension extends; nil if the name is not simply the address of its descriptor.
  private var extendedType: ContextDescriptor? {
    guard let name = unsafe address.target(at: 8) else { return nil }
    let target = unsafe name.target(at: 1)
    switch unsafe name.load(as: UInt8.self) {
    case 1: return unsafe target.map { unsafe ContextDescriptor(address: $0) }
    case 2: return unsafe target?.load(as: UnsafeRawPointer?.self).map { unsafe ContextDescriptor(address: $0) }
    default: return nil
    }
  }

  private func isNamed(_ text: String) -> Bool {
    guard let name = unsafe name else { return false }
    var place = unsafe name
    for byte in text.utf8 {
      if unsafe UInt8(bitPattern: place.pointee) != byte || byte == 0 { return false }
      unsafe place += 1
    }
    return unsafe place.pointee == 0
  }
}
