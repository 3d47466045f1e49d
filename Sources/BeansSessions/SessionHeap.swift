/// A heap of sessions by a time, the earliest one at the top. An index identifies a session.
struct SessionHeap {
  struct Node {
    var time: UInt64
    let index: Int32
  }

  private var nodes: [Node] = []
  /// The place in `nodes` of each index; negative for an index that is not in the heap.
  private var places: [Int32] = []

  /// The node with the earliest time.
  var first: Node? { nodes.first }

  /// Returns the time of a session; nil if it is not in the heap.
  func time(of index: Int32) -> UInt64? { place(of: index).map { nodes[$0].time } }

  /// Adds a session that is not in the heap.
  mutating func insert(_ index: Int32, at time: UInt64) {
    while places.count <= index { places.append(-1) }
    nodes.append(Node(time: time, index: index))
    siftUp(nodes.count - 1)
  }

  /// Removes a session; no effect if it is not in the heap.
  mutating func remove(_ index: Int32) {
    guard let place = place(of: index) else { return }
    places[Int(index)] = -1
    let last = nodes.removeLast()
    guard place < nodes.count else { return }
    put(last, at: place)
    siftDown(place)
    siftUp(place)
  }

  /// Sets the time of a session in the heap.
  mutating func move(_ index: Int32, to time: UInt64) {
    guard let place = place(of: index) else { return }
    nodes[place].time = time
    siftDown(place)
    siftUp(place)
  }

  private func place(of index: Int32) -> Int? {
    guard index < places.count, places[Int(index)] >= 0 else { return nil }
    return Int(places[Int(index)])
  }

  private mutating func siftUp(_ start: Int) {
    var place = start
    let node = nodes[place]
    while place > 0, node.time < nodes[(place - 1) / 2].time {
      put(nodes[(place - 1) / 2], at: place)
      place = (place - 1) / 2
    }
    put(node, at: place)
  }

  private mutating func siftDown(_ start: Int) {
    var place = start
    let node = nodes[place]
    while 2 * place + 1 < nodes.count {
      var child = 2 * place + 1
      if child + 1 < nodes.count, nodes[child + 1].time < nodes[child].time { child += 1 }
      guard nodes[child].time < node.time else { break }
      put(nodes[child], at: place)
      place = child
    }
    put(node, at: place)
  }

  private mutating func put(_ node: Node, at place: Int) {
    nodes[place] = node
    places[Int(node.index)] = Int32(place)
  }
}
