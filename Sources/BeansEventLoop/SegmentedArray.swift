/// An array that never moves its elements to grow, and whose memory can be released piece by piece.
///
/// A plain array of a million timers stops its loop for tens of milliseconds when it grows, and for several when it is
/// deallocated. Reading and writing cost a second look-up. One spare segment is kept, so that a count that goes up and
/// down costs no allocation.
struct SegmentedArray<Element> {
  private static var segmentCapacity: Int { 1_024 }

  private var segments: [[Element]] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var first: Element? { isEmpty ? nil : self[0] }
  /// The number of segments, filled or not.
  var segmentCount: Int { segments.count }

  subscript(index: Int) -> Element {
    _read { yield segments[index / Self.segmentCapacity][index % Self.segmentCapacity] }
    _modify { yield &segments[index / Self.segmentCapacity][index % Self.segmentCapacity] }
  }

  mutating func append(_ element: Element) {
    let segment = count / Self.segmentCapacity
    if segment == segments.count {
      segments.append([])
      segments[segment].reserveCapacity(Self.segmentCapacity)
    }
    segments[segment].append(element)
    count += 1
  }

  mutating func removeLast() -> Element {
    count -= 1
    let segment = count / Self.segmentCapacity
    if segment + 2 < segments.count { segments.removeLast() }
    return segments[segment].removeLast()
  }

  /// Empties the array, and returns the segments with their elements.
  mutating func takeSegments() -> [[Element]] {
    defer { (segments, count) = ([], 0) }
    return segments
  }
}

extension SegmentedArray: Sendable where Element: Sendable {}
