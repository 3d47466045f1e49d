import Glibc

/// Ends a child process that hangs, with a signal that its exit test reports.
enum Watchdog {
  static func start() { alarm(600) }
}
