import Glibc

/// How many file descriptors this process may have, and what they are planned for.
enum FileDescriptors {
  /// The file of a connection to the database, and its log.
  static let ofDatabase = 2
  /// What a loop needs beside connections: its `epoll`, two `eventfd`s, both ends of the pipe for signals, a listener, a
  /// connection to the database, and one to a server that keeps sessions.
  private static func ofLoop(_ sharesSessions: Bool) -> Int { 6 + ofDatabase + (sharesSessions ? 1 : 0) }
  /// What a loop needs in all: without two connections it would be of no use.
  private static func perLoop(_ sharesSessions: Bool) -> Int { ofLoop(sharesSessions) + 2 }
  /// The standard streams, Dispatch, the database, signals, and what is opened for a moment.
  private static let forAll = 28

  /// Raises the soft limit to the hard one, and returns it.
  static func raiseLimit() -> Int {
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard unsafe getrlimit(kind, &limit) == 0 else { return 1024 }
    if limit.rlim_cur < limit.rlim_max {
      limit.rlim_cur = limit.rlim_max
      unsafe setrlimit(kind, &limit)
      unsafe getrlimit(kind, &limit)
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// How many of the `wanted` loops there are descriptors for. Throws where there are too few for one.
  static func loops(
    _ wanted: Int, limit: Int, sharesSessions: Bool = false
  ) throws(ConfigurationFaults) -> Int {
    let perLoop = perLoop(sharesSessions)
    let possible = (limit - forAll) / perLoop
    if possible < 1 {
      throw ConfigurationFaults(lines: [
        "\(limit) file descriptors are too few: \(forAll + perLoop) are needed (ulimit -n)"
      ])
    }
    return min(wanted, possible)
  }

  /// How many connections the loops may have, so that descriptors are left for everything else.
  static func connections(loops: Int, limit: Int, sharesSessions: Bool = false) -> Int {
    max(1, limit - forAll - loops * ofLoop(sharesSessions))
  }
}
