import CBeansRuntime

/// What the program and its libraries hold for the Swift runtime, as it has them registered.
enum LoadedImages {
  /// Images are only ever added, so their number tells whether there are new ones.
  static var count: Int {
    var count = 0
    unsafe swift_enumerateAllMetadataSections(
      { _, count in
        unsafe count?.assumingMemoryBound(to: Int.self).pointee += 1
        return true
      }, &count)
    return count
  }

  /// The sections of each image, in no particular order.
  static var sections: [beans_sections] {
    var all: [beans_sections] = unsafe []
    // `&all` would be the address of its elements.
    unsafe withUnsafeMutablePointer(to: &all) { all in
      unsafe swift_enumerateAllMetadataSections(
        { sections, all in
          if let sections = unsafe sections {
            unsafe all?.assumingMemoryBound(to: [beans_sections].self).pointee.append(sections.pointee)
          }
          return true
        }, unsafe all)
    }
    return unsafe all
  }
}

extension beans_section {
  /// Calls `body` with the place of each of the references it consists of.
  func forEachReference(_ body: (UnsafeRawPointer) -> Void) {
    guard let start = unsafe UnsafeRawPointer(bitPattern: start) else { return }
    let size = MemoryLayout<Int32>.size
    for index in 0..<length / size { unsafe body(start + index * size) }
  }
}

extension UnsafeRawPointer {
  /// What the reference here leads to, which is stored as its distance from itself; nil where there is none.
  func target(at offset: Int = 0) -> UnsafeRawPointer? {
    let distance = unsafe Int(loadUnaligned(fromByteOffset: offset, as: Int32.self))
    return unsafe distance == 0 ? nil : self + offset + distance
  }

  /// The target of a reference whose lowest bit asks to look up the address there.
  func indirectTarget(at offset: Int = 0) -> UnsafeRawPointer? {
    let distance = unsafe Int(loadUnaligned(fromByteOffset: offset, as: Int32.self))
    if distance == 0 { return nil }
    let target = unsafe self + offset + (distance & ~1)
    return unsafe distance & 1 == 0 ? target : target.load(as: UnsafeRawPointer?.self)
  }
}
