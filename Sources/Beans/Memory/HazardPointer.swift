public import CBeansRuntime

/// A published note that the calling thread uses an owner, which delays the owner's release.
///
/// Without notes, a lookup in an environment that is no child of a factory would update a shared counter twice, and all
/// threads would contend for it. Instead each thread stores the environment that it reads in a place of its own, with a
/// plain store, and then checks whether the environment's end has begun. A thread that wants to release the environment
/// marks it, makes all threads run a memory barrier, and reads their notes. If it misses a note, the thread that wrote
/// the note sees the mark.
@usableFromInline
@safe struct HazardPointer {
  @usableFromInline let place: UnsafeMutablePointer<UnsafeRawPointer?>

  /// Notes the owner of the memory to be read; nil if the thread has no place left or the system has no such barrier.
  @inline(__always)
  static func protecting(_ owner: Unretained<some AnyObject>) -> HazardPointer? {
    unsafe beans_hazard_note(owner.opaque).map { unsafe HazardPointer(place: $0) }
  }

  /// Ends the use. The caller must check afterwards whether the owner waits for that.
  @inlinable @inline(__always)
  func clear() { unsafe beans_hazard_clear(place) }

  /// Whether a thread uses the owner. Runs the barrier.
  static func isProtected(_ owner: Unretained<some AnyObject>) -> Bool { unsafe beans_hazard_is_noted(owner.opaque) }

  /// Returns the owners that the calling thread uses now, which are all known to be of that class.
  static func owners<Owner: AnyObject>(_ type: Owner.Type) -> [Unretained<Owner>] {
    (0..<UInt32(BEANS_HAZARDS)).compactMap { number in
      unsafe beans_hazard_of_this_thread(number).map { unsafe Unretained(opaque: $0) }
    }
  }
}

#if BEANS_SCHEDULES
  // In builds for the tests of schedules, these functions hide those of the library.

  func beans_hazard_note(_ owner: UnsafeRawPointer?) -> UnsafeMutablePointer<UnsafeRawPointer?>? {
    Schedules.note(UInt(bitPattern: owner) | 1)
    return unsafe CBeansRuntime.beans_hazard_note(owner)
  }

  @usableFromInline
  func beans_hazard_clear(_ place: UnsafeMutablePointer<UnsafeRawPointer?>) {
    Schedules.note(UInt(bitPattern: unsafe place.pointee) | 1)
    unsafe CBeansRuntime.beans_hazard_clear(place)
  }

  func beans_hazard_is_noted(_ owner: UnsafeRawPointer?) -> Bool {
    Schedules.read(UInt(bitPattern: owner) | 1)
    return unsafe CBeansRuntime.beans_hazard_is_noted(owner)
  }
#endif
