#if BEANS_SCHEDULES
  @_exported public import BeansSupport

  // In builds for the tests of schedules, these names hide those of the libraries. See `BeansSupport/Schedules.swift`.

  @usableFromInline typealias Atomic = ScheduledAtomic
  typealias SpinLock = ScheduledLock
  typealias DispatchSemaphore = ScheduledSignal

  func beans_thread() -> UInt { Schedules.threadNumber }
#endif
