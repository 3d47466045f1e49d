import CBeansRuntime

/// The metadata sections that the program and its libraries have registered with the Swift runtime.
enum LoadedImages {
  /// The number of images. Images are only ever added, so a change of the number means new ones.
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
    // `&all` would be the address of the array's elements.
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
  /// Calls `body` with the place of each reference in the section.
  func forEachReference(_ body: (UnsafeRawPointer) -> Void) {
    guard let start = unsafe UnsafeRawPointer(bitPattern: start) else { return }
    let size = MemoryLayout<Int32>.size
    for index in 0..<length / size { unsafe body(start + index * size) }
  }
}

extension UnsafeRawPointer {
  /// Returns the target of the reference here, which is stored as the distance from its own place; nil if there is
  /// none.
  func target(at offset: Int = 0) -> UnsafeRawPointer? {
    let distance = unsafe Int(loadUnaligned(fromByteOffset: offset, as: Int32.self))
    return unsafe distance == 0 ? nil : self + offset + distance
  }

  /// Returns the target of a reference whose lowest bit marks an indirect address.
  func indirectTarget(at offset: Int = 0) -> UnsafeRawPointer? {
    let distance = unsafe Int(loadUnaligned(fromByteOffset: offset, as: Int32.self))
    if distance == 0 { return nil }
    let target = unsafe self + offset + (distance & ~1)
    return unsafe distance & 1 == 0 ? target : target.load(as: UnsafeRawPointer?.self)
  }
}
