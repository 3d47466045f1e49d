import Synchronization

/// The kind of a handle, with its name in reports.
enum HandleKind: String, CaseIterable, Sendable {
  case listener = "TCPListener"
  case connection = "TCPConnection"
  case signal = "SignalSource"
  case fileWatcher = "FileWatcher"
}

/// Counts the handles of one loop. The loop's thread writes the counters, any thread reads them.
final class HandleLedger: Sendable {
  /// The counters of one kind.
  final class Entry: Sendable {
    let opened = Atomic<Int>(0)
    let closed = Atomic<Int>(0)
  }

  private let listeners = Entry()
  private let connections = Entry()
  private let signals = Entry()
  private let fileWatchers = Entry()

  subscript(kind: HandleKind) -> Entry {
    switch kind {
    case .listener: listeners
    case .connection: connections
    case .signal: signals
    case .fileWatcher: fileWatchers
    }
  }

  func open(_ kind: HandleKind) -> Int {
    // `closed` is read first: a handle that is opened and closed in between must not make the number negative.
    let closed = self[kind].closed.load(ordering: .acquiring)
    return self[kind].opened.load(ordering: .acquiring) - closed
  }

  var openTotal: Int { HandleKind.allCases.reduce(0) { $0 + open($1) } }
}

extension EventLoop {
  /// The number of open handles by kind (`"TCPConnection": 3`), without kinds that have none. May be read from any
  /// thread.
  ///
  /// A handle is included until libuv has released it, which is shortly after the handle's `close()`.
  public var openHandles: [String: Int] {
    var result: [String: Int] = [:]
    for kind in HandleKind.allCases {
      let count = ledger.open(kind)
      if count > 0 { result[kind.rawValue] = count }
    }
    return result
  }

  /// The total numbers of handles that the loop has opened and closed. May be read from any thread.
  package var handleTotals: (opened: Int, closed: Int) {
    HandleKind.allCases.reduce(into: (opened: 0, closed: 0)) { totals, kind in
      totals.closed += ledger[kind].closed.load(ordering: .acquiring)
      totals.opened += ledger[kind].opened.load(ordering: .acquiring)
    }
  }
}
