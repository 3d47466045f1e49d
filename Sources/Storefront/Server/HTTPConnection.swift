import BeansEventLoop
import Synchronization

/// One client's connection: reads requests, hands them out, writes the responses in the order of the requests.
///
/// `@unchecked Sendable` because its methods are called on the loop's thread only, which `TCPConnection` checks; the
/// exchanges that other threads hold come back through `loop.execute`.
final class HTTPConnection: @unchecked Sendable {
  /// A request whose response is not yet written.
  private struct Pending {
    let isHead: Bool
    let keepAlive: Bool
    /// Whether the client speaks HTTP/1.0.
    let isOld: Bool
    /// False for a message that was refused before it became a request.
    let isRequest: Bool
    /// Bytes of the request's body.
    var input = 0
    var response: HTTPResponse?
    var abandoned: (() -> Void)?
  }

  enum Phase {
    case open
    /// The last response has been written, the end of this side is on its way; what still comes in is dropped.
    case lingering
    case closed
  }

  let loop: EventLoop
  private let tcp: TCPConnection
  private let endpoint: HTTPEndpoint
  private let parser: HTTPRequestParser
  // One thread, and no method calls foreign code while it changes one of these: checking that at run time, at each access,
  // took a fifth of a small request.
  @exclusivity(unchecked) private(set) var phase = Phase.open

  /// In the order of their requests. The sequence number of the first is `firstSequence`.
  @exclusivity(unchecked) private var pending: [Pending] = []
  @exclusivity(unchecked) private var firstSequence = 0
  @exclusivity(unchecked) private var output: [UInt8] = []
  /// Requests answered in `output`, and those in each write the system has not yet taken.
  @exclusivity(unchecked) private var responsesInOutput = 0
  private var responsesInWrites: [Int] = []
  /// Bytes of requests that are not yet answered, as they are counted for all connections.
  @exclusivity(unchecked) private var input = 0
  /// Bytes that have ever been put into the write queue.
  private var bytesQueued = 0
  /// Writes whose completion is still to come but tells nothing new.
  private var writesKnownToBeDone = 0

  @exclusivity(unchecked) private var isProcessing = false
  /// No request is taken any more: the last one asked for the end, or was refused.
  @exclusivity(unchecked) private var hasLastRequest = false
  /// The client has closed its side.
  @exclusivity(unchecked) private var inputHasEnded = false
  /// The last read filled the loop's buffer, so there is probably more.
  @exclusivity(unchecked) private var lastReadWasFull = false
  @exclusivity(unchecked) private var deadlines: HTTPConnectionDeadlines

  private static let readBufferSize = 64 * 1024
  /// Output beyond this is written before the next request is looked at.
  private static let outputLimit = 64 * 1024

  init(_ tcp: TCPConnection, endpoint: HTTPEndpoint) {
    self.tcp = tcp
    self.endpoint = endpoint
    loop = tcp.loop
    parser = HTTPRequestParser(limits: endpoint.settings.limits)
    unsafe deadlines = HTTPConnectionDeadlines(settings: endpoint.settings, now: .now)
  }

  // MARK: The beginning and the end

  /// Begins to read. The connection lives until its socket is closed.
  func start() {
    connect()
    settle()
  }

  /// Answers `error` to whatever the client may send, and closes.
  func start(refusing error: HTTPError) {
    connect()
    answer(error)
    finishOutput()
  }

  private func connect() {
    // Dropped with the socket, so that these references end.
    unsafe tcp.onRead = { unsafe self.received($0) }
    tcp.onEnd = { self.ended() }
    tcp.onDrain = { self.process() }
    tcp.onClose = { _ in self.closed() }
  }

  /// Closes at once, whatever is under way.
  func abort() { tcp.close() }

  private func closed() {
    unsafe phase = .closed
    unsafe deadlines.cancel()
    let requests = unsafe pending.count { $0.isRequest } + responsesInOutput + responsesInWrites.reduce(0, +)
    let abandoned = unsafe pending.compactMap(\.abandoned)
    unsafe pending = []
    countInput(0)
    responsesInWrites = []
    unsafe responsesInOutput = 0
    endpoint.didClose(self, aborted: requests)
    for body in abandoned { body() }
  }

  // MARK: Input

  private func received(_ bytes: UnsafeRawBufferPointer) {
    guard unsafe phase == .open, unsafe !hasLastRequest else { return }
    unsafe lastReadWasFull = bytes.count == Self.readBufferSize
    unsafe parser.append(bytes)
    process()
  }

  private func ended() {
    unsafe inputHasEnded = true
    unsafe lastReadWasFull = false
    if unsafe phase == .lingering { tcp.closeAfterWrites() } else { process() }
  }

  /// Takes as many requests as may be in work at one time, and writes what has been answered.
  private func process() {
    guard unsafe phase == .open, unsafe !isProcessing else { return }
    unsafe isProcessing = true
    while mayTakeRequest {
      do throws(HTTPError) {
        guard let request = try parser.next() else { break }
        take(request)
      } catch {
        refuse(error)
      }
      if unsafe output.count >= Self.outputLimit { flush() }
    }
    unsafe isProcessing = false
    limitInput()
    // In its place: behind the responses to all earlier requests.
    if unsafe pending.isEmpty, unsafe !hasLastRequest, parser.takeContinue() {
      unsafe output.append(literal: "HTTP/1.1 100 Continue\r\n\r\n")
    }
    finishOutput()
  }

  /// Refuses what has arrived in part where all connections together have sent too much.
  private func limitInput() {
    let waiting = parser.waitingBytes
    // The usual case: everything has been taken and answered.
    if waiting == 0, unsafe pending.isEmpty, unsafe input == 0 { return }
    unsafe countInput(waiting + pending.reduce(0) { $0 + $1.input })
    let limit = endpoint.settings.maximumInput
    guard waiting > endpoint.settings.limits.head, unsafe !hasLastRequest,
      endpoint.openOnAllLoops.input.load(ordering: .relaxed) > limit
    else { return }
    let error = HTTPError(.serviceUnavailable, "There is too much to do. Try again.", retryAfter: 1)
    parser.giveUp(error)
    refuse(error)
    unsafe countInput(pending.reduce(0) { $0 + $1.input })
  }

  private func countInput(_ bytes: Int) {
    let change = unsafe bytes - input
    if change == 0 { return }
    unsafe input = bytes
    endpoint.openOnAllLoops.input.add(change, ordering: .relaxed)
  }

  private var mayTakeRequest: Bool {
    unsafe phase == .open && !hasLastRequest && pending.count < endpoint.settings.maximumPipelined && tcp.isWritable
  }

  private func take(_ request: HTTPRequest) {
    unsafe deadlines.requestEnded()
    let keepAlive = request.keepAlive
    if !keepAlive { unsafe hasLastRequest = true }
    let sequence = unsafe firstSequence + pending.count
    unsafe pending.append(
      Pending(
        isHead: request.method == .head, keepAlive: keepAlive, isOld: request.isOld, isRequest: true,
        input: request.body.count))
    HTTPCounters.increase(endpoint.counters.requests)
    endpoint.handler(HTTPExchange(request, on: self, sequence: sequence))
  }

  /// Answers instead of the handler, and takes nothing more: where the next message would begin is not known.
  private func refuse(_ error: HTTPError) {
    endpoint.counters.refusedRequests.add(1, ordering: .relaxed)
    answer(error)
  }

  private func answer(_ error: HTTPError) {
    unsafe hasLastRequest = true
    unsafe pending.append(
      Pending(
        isHead: parser.isHead, keepAlive: false, isOld: false, isRequest: false, response: HTTPResponse(error)))
    writeAnswered()
  }

  // MARK: Output

  /// Takes the answer to one request.
  func deliver(_ response: HTTPResponse, _ sequence: Int) {
    let index = unsafe sequence - firstSequence
    guard unsafe phase != .closed, unsafe pending.indices.contains(index) else { return }
    if index == 0 {
      serialise(response)
      writeAnswered()
    } else {
      // Let go only afterwards: what it captured is the handler's.
      let abandoned = unsafe pending[index].abandoned
      unsafe pending[index].response = response
      unsafe pending[index].abandoned = nil
      withExtendedLifetime(abandoned) {}
    }
    // From a handler that answers at once, the loop in `process` goes on.
    process()
  }

  /// Answers for a handler that has let go of a request, where the client still waits.
  func deliverUnanswered(_ request: HTTPRequest, _ sequence: Int) {
    guard unsafe phase != .closed, unsafe pending.indices.contains(sequence - firstSequence) else { return }
    endpoint.onUnanswered(request)
    deliver(HTTPResponse(HTTPExchange.unanswered), sequence)
  }

  func setAbandoned(_ sequence: Int, _ body: @escaping () -> Void) -> Bool {
    let index = unsafe sequence - firstSequence
    guard unsafe phase != .closed, unsafe pending.indices.contains(index) else { return false }
    let old = unsafe pending[index].abandoned
    unsafe pending[index].abandoned = body
    withExtendedLifetime(old) {}
    return true
  }

  /// Puts into `output` what is answered and whose turn it is.
  private func writeAnswered() {
    while let response = unsafe pending.first?.response { serialise(response) }
  }

  /// The answer to the first of `pending`, which is done with.
  private func serialise(_ response: HTTPResponse) {
    // Let go only at the end: what it captured is the handler's.
    let abandoned = unsafe pending[0].abandoned
    defer { withExtendedLifetime(abandoned) {} }
    let keepAlive = unsafe pending[0].keepAlive && !isLastWhileDraining
    if !keepAlive { unsafe hasLastRequest = true }
    unsafe response.serialise(
      into: &output, isHead: pending[0].isHead, keepAlive: keepAlive, isOld: pending[0].isOld,
      date: endpoint.date.now())
    if unsafe pending[0].isRequest { unsafe responsesInOutput += 1 }
    // The usual case, where nothing has to move.
    if unsafe pending.count == 1 { unsafe pending.removeLast() } else { unsafe pending.removeFirst() }
    unsafe firstSequence += 1
  }

  /// While draining, the first pending request is the last of the connection if nothing of another one has arrived.
  private var isLastWhileDraining: Bool {
    unsafe endpoint.isDraining && pending.count == 1 && parser.progress == .idle && !lastReadWasFull
  }

  private func flush() {
    guard unsafe !output.isEmpty else { return }
    let sent = unsafe output.withUnsafeBytes { unsafe tcp.tryWrite($0) }
    if unsafe sent == output.count {
      unsafe HTTPCounters.increase(endpoint.counters.answered, by: responsesInOutput)
    } else {
      unsafe responsesInWrites.append(responsesInOutput)
      unsafe bytesQueued += output.count - sent
      unsafe output.withUnsafeBytes { bytes in
        unsafe tcp.write(UnsafeRawBufferPointer(rebasing: bytes[sent...])) { error in self.wrote(error) }
      }
      countWritesTaken()
    }
    unsafe responsesInOutput = 0
    unsafe output.removeAll(keepingCapacity: output.capacity <= 2 * Self.outputLimit)
  }

  private func countWritesTaken() {
    if tcp.isOpen, tcp.writeQueueSize == 0 {
      // Counted now, because a close that follows at once would come before the completions.
      HTTPCounters.increase(endpoint.counters.answered, by: responsesInWrites.reduce(0, +))
      writesKnownToBeDone += responsesInWrites.count
      responsesInWrites.removeAll(keepingCapacity: true)
    }
  }

  /// Completions come in the order of the writes.
  private func wrote(_ error: EventLoopError?) {
    if writesKnownToBeDone > 0 {
      writesKnownToBeDone -= 1
    } else if error == nil, !responsesInWrites.isEmpty {
      HTTPCounters.increase(endpoint.counters.answered, by: responsesInWrites.removeFirst())
    }
    // After a failure the connection is closing, and `closed` counts what was lost.
    if error == nil, bytesTaken == nil { settle() }
  }

  /// How many of the bytes that had to wait the client's system has taken; nil where none waits.
  private var bytesTaken: Int? {
    let queued = tcp.writeQueueSize
    return queued > 0 ? bytesQueued - queued : nil
  }

  private func finishOutput() {
    flush()
    settle()
  }

  // MARK: Between two events

  /// Decides what the connection waits for: the end, more input, a response, or the client to take output.
  func settle() {
    guard unsafe phase == .open, tcp.isOpen else { return }
    if unsafe pending.isEmpty, unsafe hasLastRequest || inputHasEnded { return finish() }

    if unsafe pending.count < endpoint.settings.maximumPipelined, unsafe !hasLastRequest, unsafe !inputHasEnded,
      tcp.isWritable
    {
      tcp.resumeReading()
    } else {
      tcp.pauseReading()
    }
    unsafe deadlines.update(
      bytesTaken.map { .output(taken: $0) } ?? (pending.isEmpty ? .input(parser.progress) : .response),
      isDraining: endpoint.isDraining, for: self)
  }

  /// Says that nothing more comes from here, and waits a moment for the client to do the same: closing with unread input
  /// would reset the connection and could cost the client the last response.
  private func finish() {
    unsafe phase = .lingering
    if unsafe inputHasEnded {
      tcp.closeAfterWrites()
    } else {
      // The client's time begins when it has been sent everything.
      tcp.shutdown { _ in self.waitForEnd() }
      tcp.resumeReading()
    }
    waitForEnd()
  }

  private func waitForEnd() {
    guard tcp.isOpen else { return }
    unsafe deadlines.update(.end(taken: bytesTaken), isDraining: endpoint.isDraining, for: self)
  }

  /// The deadline's timer has fired.
  func timedOut() {
    guard unsafe phase != .closed, tcp.isOpen else { return }
    switch unsafe deadlines.check(taken: bytesTaken, for: self) {
    case .goOn: break
    case .close: tcp.close()
    case .finish: finish()
    case .refuse:
      refuse(HTTPError(.requestTimeout, "The request took too long to arrive."))
      finishOutput()
    }
  }
}
