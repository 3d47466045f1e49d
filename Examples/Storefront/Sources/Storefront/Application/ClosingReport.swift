import Beans

/// The report of the service at its end: whether everything that was opened or created has been finished or released.
struct ClosingReport {
  let statistics: [ScopeStatistics]
  let requests: HTTPCounts
  /// The number of open handles by kind, over all loops.
  let openHandles: [String: Int]
  /// The number of log lines that were not written, because no reader took them.
  var droppedLines = 0

  var isClean: Bool {
    statistics.allSatisfy { $0.opened == $0.finished && $0.created == $0.released } && openHandles.isEmpty
      && requests.openConnections == 0
  }

  var text: String {
    var lines = [
      "Storefront: \(requests.requests) requests, \(requests.answered) answered, \(requests.aborted) aborted, "
        + "\(requests.refusedRequests) refused; \(requests.acceptedConnections) connections, "
        + "\(requests.openConnections) open"
    ]
    for counts in statistics {
      lines.append(
        "\(counts.scope): environments opened \(counts.opened) \(sign(counts.opened, counts.finished)) finished "
          + "\(counts.finished), beans created \(counts.created) \(sign(counts.created, counts.released)) released "
          + "\(counts.released)")
    }
    let handles = openHandles.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    lines.append("open handles: \(handles.isEmpty ? "none" : handles)")
    if droppedLines > 0 { lines.append("dropped lines of the log: \(droppedLines)") }
    return lines.joined(separator: "\n")
  }

  private func sign(_ left: Int, _ right: Int) -> String { left == right ? "=" : "≠" }
}
