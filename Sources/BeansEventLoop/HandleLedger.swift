import Synchronization

/// What a handle is, as reports name it.
enum HandleKind: String, CaseIterable, Sendable {
  case listener = "TCPListener"
  case connection = "TCPConnection"
  case signal = "SignalSource"
  case fileWatcher = "FileWatcher"
}

/// Counts the handles of one loop. Written by the loop's thread, read by any.
final class HandleLedger: Sendable {
  /// One kind's entry.
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
    // Closed first: a handle that is opened and closed in between must not count as less than none.
    let closed = self[kind].closed.load(ordering: .acquiring)
    return self[kind].opened.load(ordering: .acquiring) - closed
  }

  var openTotal: Int { HandleKind.allCases.reduce(0) { $0 + open($1) } }
}

extension EventLoop {
  /// How many handles are open, by kind (`"TCPConnection": 3`); kinds without any are left out. From any thread.
  ///
  /// A handle counts until libuv has let go of it, which is shortly after its `close()`.
  public var openHandles: [String: Int] {
    var result: [String: Int] = [:]
    for kind in HandleKind.allCases {
      let count = ledger.open(kind)
      if count > 0 { result[kind.rawValue] = count }
    }
    return result
  }

  /// How many handles the loop has had and how many of them have been closed, ever. From any thread.
  public var handleTotals: (opened: Int, closed: Int) {
    HandleKind.allCases.reduce(into: (opened: 0, closed: 0)) { totals, kind in
      totals.closed += ledger[kind].closed.load(ordering: .acquiring)
      totals.opened += ledger[kind].opened.load(ordering: .acquiring)
    }
  }
}
