/// Timers by hand, for one thread: a binary heap of objects that know their place in it.
final class HandwrittenTimers {
  final class Timer {
    let deadline: UInt64
    let body: @Sendable () -> Void
    fileprivate var position = 0

    init(_ deadline: UInt64, _ body: @escaping @Sendable () -> Void) {
      self.deadline = deadline
      self.body = body
    }
  }

  private var heap: [Timer] = []

  var count: Int { heap.count }

  func schedule(at deadline: UInt64, _ body: @escaping @Sendable () -> Void) -> Timer {
    let timer = Timer(deadline, body)
    timer.position = heap.count
    heap.append(timer)
    siftUp(timer.position)
    return timer
  }

  func cancel(_ timer: Timer) { remove(timer.position) }

  func runDue(at now: UInt64) {
    while let first = heap.first, first.deadline <= now {
      remove(0)
      first.body()
    }
  }

  private func remove(_ position: Int) {
    let last = heap.removeLast()
    guard position < heap.count else { return }
    place(last, position)
    siftDown(position)
    siftUp(position)
  }

  private func place(_ timer: Timer, _ position: Int) {
    heap[position] = timer
    timer.position = position
  }

  private func siftUp(_ start: Int) {
    let timer = heap[start]
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard timer.deadline < heap[parent].deadline else { break }
      place(heap[parent], position)
      position = parent
    }
    place(timer, position)
  }

  private func siftDown(_ start: Int) {
    let timer = heap[start]
    var position = start
    while true {
      var child = 2 * position + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
      guard heap[child].deadline < timer.deadline else { break }
      place(heap[child], position)
      position = child
    }
    place(timer, position)
  }
}
