#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The kernel's monotonic clock.
package enum MonotonicClock {
  /// The time in nanoseconds; half the price of `ContinuousClock`, whose instants are 128 bits wide.
  package static var now: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
