#if BEANS_SCHEDULES
  public import BeansErrors

  // In builds for the tests of schedules, these names hide those of the libraries. See `BeansErrors/Schedules.swift`.

  @usableFromInline typealias Atomic = ScheduledAtomic
  typealias SpinLock = ScheduledLock
  typealias DispatchSemaphore = ScheduledSignal

  func beans_thread() -> UInt { Schedules.threadNumber }
#endif
