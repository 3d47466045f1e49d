import Glibc

/// Processor time of the calling thread: other processes on the machine do not count.
enum ThreadClock {
  static var nanoseconds: Double {
    var time = timespec()
    // Cannot fail: the clock exists on every Linux, and the pointer is valid.
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}

/// Time on the wall, for work of several threads together.
enum WallClock {
  static var nanoseconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
