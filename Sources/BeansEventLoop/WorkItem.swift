/// What other threads hand to the loop. A job is stored as it is, so that enqueueing one allocates no closure.
enum WorkItem: Sendable {
  case closure(@Sendable () -> Void)
  /// A job of an actor on the loop.
  case job(UnownedJob)
  /// A job of a task that prefers the loop and is in no actor.
  case taskJob(UnownedJob)
  /// An item that has been taken out; its closure must not live until the batch ends.
  case taken
}

/// The items that the loop has taken from the queue and works through, in bounded steps.
///
/// Belongs to the thread that drives the loop.
struct WorkBatch {
  private var items: [WorkItem] = []
  private var next = 0

  /// Above this many items the memory is given back rather than kept for the next batch.
  private static let keptCapacity = 16_384

  var isUsedUp: Bool { next == items.count }

  /// Takes the whole queue, leaving it this batch's empty buffer. Only when used up.
  mutating func refill(from queue: inout [WorkItem]) {
    assert(isUsedUp)
    if items.capacity > Self.keptCapacity {
      items = []
    } else {
      items.removeAll(keepingCapacity: true)
    }
    next = 0
    swap(&items, &queue)
  }

  mutating func take() -> WorkItem? {
    guard next < items.count else { return nil }
    var item = WorkItem.taken
    swap(&item, &items[next])
    next += 1
    return item
  }
}
