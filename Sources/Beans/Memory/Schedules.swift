#if BEANS_SCHEDULES
  @_exported public import BeansSupport
  import CBeansRuntime

  // In builds for the tests of schedules, these names hide those of the libraries. See `BeansSupport/Schedules.swift`.

  @usableFromInline typealias Atomic = ScheduledAtomic
  typealias SpinLock = ScheduledLock
  typealias DispatchSemaphore = ScheduledSignal

  func beans_thread() -> UInt { Schedules.threadNumber }

  @usableFromInline
  func beans_hazard_note(_ owner: UnsafeRawPointer?) -> UnsafeMutablePointer<UnsafeRawPointer?>? {
    Schedules.note(UInt(bitPattern: owner) | 1)
    return unsafe CBeansRuntime.beans_hazard_note(owner)
  }

  @usableFromInline
  func beans_hazard_note_first(_ owner: UnsafeRawPointer?) -> UnsafeMutablePointer<UnsafeRawPointer?>? {
    Schedules.note(UInt(bitPattern: owner) | 1)
    return unsafe CBeansRuntime.beans_hazard_note_first(owner)
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
