/// A gate at which tasks wait until it is opened, and which reports their arrivals.
final class AsyncGate: Sendable {
  private struct State {
    var isOpen = false
    var arrived = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    var watching: [(count: Int, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Guarded(State())

  /// Notes the arrival of the task, then waits until the gate is open.
  func pass() async {
    arrive()
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Passes the gate, then makes the value: `async: { await gate.passing(Store()) }`.
  func passing<Value>(_ make: @autoclosure () throws -> Value) async rethrows -> Value {
    await pass()
    return try make()
  }

  func arrive() {
    let watching = state.withLock { state in
      state.arrived += 1
      let arrived = state.arrived
      defer { state.watching.removeAll { $0.count <= arrived } }
      return state.watching.filter { $0.count <= arrived }
    }
    for watcher in watching { watcher.1.resume() }
  }

  /// Waits until so many tasks have arrived.
  func arrivals(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.arrived < count { state.watching.append((count, continuation)) }
        return state.arrived >= count
      }
      if isThere { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
