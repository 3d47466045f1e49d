import CBeansRuntime

/// What the compiler leaves of a named type, a protocol, or what stands around them. The first four words: flags, parent,
/// name (that of an extension is the mangled name of the extended type), accessor of types.
@safe struct ContextDescriptor {
  enum Kind: UInt32 {
    case module, `extension`, anonymous, `protocol`
    case `class` = 16
    case `struct`, `enum`
  }

  let address: UnsafeRawPointer

  /// nil for what has no name in source.
  var kind: Kind? { Kind(rawValue: flags & 0x1F) }

  /// Without module and enclosing types; nil for what has none.
  var name: UnsafePointer<CChar>? {
    switch kind {
    case nil, .extension, .anonymous: nil
    default: unsafe address.target(at: 8)?.assumingMemoryBound(to: CChar.self)
    }
  }

  /// The type, or the module, that this was declared in; nil behind a module.
  var parent: ContextDescriptor? {
    var context = self
    while let parent = context.enclosing {
      switch parent.kind {
      case .extension:
        if let extended = parent.extendedType { return extended }
      case .anonymous: break
      default: return parent
      }
      // Private and local types stand in nameless contexts.
      context = parent
    }
    return nil
  }

  /// The names of itself, the types around it and the module.
  var names: [String] {
    sequence(first: self, next: \.parent).map { unsafe $0.name.map { unsafe String(cString: $0) } ?? "?" }
  }

  /// Whether the type, or one around it, has generic parameters.
  var isGeneric: Bool {
    let mark: UInt32 = 0x80
    return sequence(first: self, next: \.enclosing).contains { $0.flags & mark != 0 }
  }

  /// The type, where it is not generic.
  var type: Any.Type? {
    switch kind {
    case .class, .struct, .enum: break
    default: return nil
    }
    guard !isGeneric, let accessor = unsafe address.target(at: 12) else { return nil }
    return unsafe beans_metadata(accessor).map { unsafe unsafeBitCast($0, to: Any.Type.self) }
  }

  /// From all loaded images the types and protocols of that own name, or all.
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

  /// The lowest bit of a reference asks to look up the address, of types the next one belongs to a kind of reference that
  /// is not used here.
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

  /// The type an extension extends; nil where it is not simply the address of its descriptor.
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
