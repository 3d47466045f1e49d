/// An item of work that any thread adds to the loop. A job is stored as it is, so that enqueueing one allocates no
/// closure.
enum WorkItem: Sendable {
  case closure(@Sendable () -> Void)
  /// A job of an actor on the loop.
  case job(UnownedJob)
  /// A job of a task that prefers the loop and is not isolated to an actor.
  case taskJob(UnownedJob)
  /// The place of an item that has been taken out, whose closure must not live until the batch ends.
  case taken
}

/// The items that the loop has taken from the queue and runs in bounded steps.
///
/// A batch belongs to the thread that drives the loop.
struct WorkBatch {
  private var items: [WorkItem] = []
  private var next = 0

  /// The largest capacity, in items, that is kept for the next batch; more memory is released.
  private static let keptCapacity = 16_384

  var isUsedUp: Bool { next == items.count }

  /// Takes the whole queue, and leaves this batch's empty buffer in its place. Called only when the batch is used up.
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
