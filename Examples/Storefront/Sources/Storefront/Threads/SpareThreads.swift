import Dispatch
import Glibc

/// A check, before the start, that the system grants the threads that the start needs.
enum SpareThreads {
  struct Missing: Error, CustomStringConvertible {
    let wanted: Int
    let made: Int
    let status: Int32

    var description: String {
      let reason = unsafe String(cString: strerror(status))
      return "the system gives only \(made) of \(wanted) further threads: \(reason) "
        + "(limits of processes or memory: ulimit -u, ulimit -v, pids.max)"
    }
  }

  /// The number of threads that a service needs beside its loops: for Dispatch one per processor at two priorities, and
  /// a few for timers, writes to the store and the flush of the log.
  static var ofService: Int { 2 * min(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), 8) + 8 }

  /// Creates threads, all at the same time, and ends them.
  ///
  /// Another process of the user may take the last thread afterwards: this is no reservation.
  ///
  /// - Throws: `Missing` if the system refuses a thread.
  static func require(_ count: Int = ofService) throws(Missing) {
    let gate = Gate()
    var threads: [pthread_t] = []
    var status: Int32 = 0
    while threads.count < count, status == 0 {
      let argument = unsafe Unmanaged.passRetained(gate)
      var thread = pthread_t()
      status = unsafe pthread_create(
        &thread, nil,
        { argument in
          guard let argument = unsafe argument else { return nil }
          unsafe Unmanaged<Gate>.fromOpaque(argument).takeRetainedValue().opened.wait()
          return nil
        }, unsafe argument.toOpaque())
      if status == 0 { threads.append(thread) } else { unsafe argument.release() }
    }
    for _ in threads { gate.opened.signal() }
    for thread in threads { pthread_join(thread, nil) }
    if status != 0 { throw Missing(wanted: count, made: threads.count, status: status) }
  }

  private final class Gate: Sendable {
    let opened = DispatchSemaphore(value: 0)
  }
}
