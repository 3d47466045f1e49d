import Glibc

/// The limit of file descriptors of this process, and its distribution.
enum FileDescriptors {
  /// The descriptors of a connection to the database: its file, and its log.
  static let ofDatabase = 2
  /// The descriptors of a loop beside its connections: its `epoll`, two `eventfd`s, both ends of the pipe for signals,
  /// a listener, a connection to the database, and one to a server that keeps sessions.
  private static func ofLoop(_ sharesSessions: Bool) -> Int { 6 + ofDatabase + (sharesSessions ? 1 : 0) }
  /// The descriptors of a loop in all: with fewer than two connections it would be useless.
  private static func perLoop(_ sharesSessions: Bool) -> Int { ofLoop(sharesSessions) + 2 }
  /// The descriptors of the standard streams, Dispatch, the database, signals, and of files that are opened for a
  /// moment.
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

  /// Returns the number of loops, up to `wanted`, for which there are descriptors. Throws if there are too few for one.
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

  /// Returns the number of connections that the loops may have, so that descriptors remain for all other uses.
  static func connections(loops: Int, limit: Int, sharesSessions: Bool = false) -> Int {
    max(1, limit - forAll - loops * ofLoop(sharesSessions))
  }
}
