public import CBeansRuntime

/// What the calling thread says it is using, so that who wants to release it waits.
///
/// A lookup in an environment that is no child of a factory would otherwise count itself in and out of a word that all
/// threads meet at. Instead each thread writes down for itself which environment it reads, with a plain store, then looks
/// whether that has begun to end. Whoever wants to release the environment marks it, has all threads run a memory barrier,
/// and reads their notes: a note that it does not see was written by somebody who sees the mark.
@usableFromInline
@safe struct HazardPointer {
  @usableFromInline let place: UnsafeMutablePointer<UnsafeRawPointer?>

  @inlinable @inline(__always)
  init(place: UnsafeMutablePointer<UnsafeRawPointer?>) { unsafe self.place = unsafe place }

  /// Notes the owner of what is going to be read; nil where the thread has no place left, or the system no such barrier.
  @inline(__always)
  static func protecting(_ owner: UInt) -> HazardPointer? {
    unsafe beans_hazard_note(UnsafeRawPointer(bitPattern: owner)).map { unsafe HazardPointer(place: $0) }
  }

  /// Notes an owner for a thread that has nothing else in use; nil for others.
  @inlinable @inline(__always)
  static func first(protecting owner: UInt) -> HazardPointer? {
    unsafe beans_hazard_note_first(UnsafeRawPointer(bitPattern: owner)).map { unsafe HazardPointer(place: $0) }
  }

  /// Ends the use. Look afterwards whether the owner waits for that.
  @inlinable @inline(__always)
  func clear() { unsafe beans_hazard_clear(place) }

  /// Whether a thread uses something of the owner. Runs the barrier.
  static func isProtected(_ owner: UInt) -> Bool { unsafe beans_hazard_is_noted(UnsafeRawPointer(bitPattern: owner)) }

  /// What the calling thread uses now.
  static var owners: [UInt] {
    (0..<UInt32(BEANS_HAZARDS)).compactMap { unsafe beans_hazard_of_this_thread($0).map { UInt(bitPattern: $0) } }
  }
}
