/// A first-in, first-out queue.
struct FirstInFirstOut<Element> {
  /// The elements; nil for each removed one.
  private var places: [Element?] = []
  private var start = 0

  /// The elements of the queue.
  var elements: some Sequence<Element> { places[start...].lazy.compactMap(\.self) }

  var count: Int { places.count - start }

  var first: Element? { start < places.count ? places[start] : nil }

  mutating func append(_ element: Element) { places.append(element) }

  mutating func popFirst() -> Element? {
    guard start < places.count else { return nil }
    defer { advance() }
    return places[start].take()
  }

  private mutating func advance() {
    start += 1
    if start == places.count {
      places.removeAll(keepingCapacity: true)
      start = 0
    } else if start > 1_024, start > places.count / 2 {
      places.removeFirst(start)
      start = 0
    }
  }

  mutating func removeAll() -> [Element] {
    defer { (places, start) = ([], 0) }
    return places[start...].compactMap(\.self)
  }
}
