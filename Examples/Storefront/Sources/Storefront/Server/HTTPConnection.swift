import BeansEventLoop
import Synchronization

/// The connection of one client: reads requests, passes them to the handler, writes the responses in the order of the
/// requests.
///
/// `@unchecked Sendable` because its methods are called on the loop's thread only, which `TCPConnection` checks;
/// exchanges that other threads hold return through `loop.execute`.
final class HTTPConnection: @unchecked Sendable {
  /// A request whose response is not yet written.
  private struct Pending {
    let isHead: Bool
    let keepAlive: Bool
    /// Whether the client speaks HTTP/1.0.
    let isOld: Bool
    /// Whether the message became a request; false for one that was refused before.
    let isRequest: Bool
    /// The number of bytes in the request's body.
    var input = 0
    var response: HTTPResponse?
    var abandoned: (() -> Void)?
  }

  enum Phase {
    case open
    /// The last response has been written, and the end of output is being sent; further input is dropped.
    case lingering
    case closed
  }

  let loop: EventLoop
  private let tcp: TCPConnection
  private let endpoint: HTTPEndpoint
  private let parser: HTTPRequestParser
  // One thread accesses these properties, and no method calls foreign code while it changes one of them. Checking that
  // at run time, at each access, took a fifth of a small request.
  @exclusivity(unchecked) private(set) var phase = Phase.open

  /// The requests without a written response, in their order. The first one has the sequence number `firstSequence`.
  @exclusivity(unchecked) private var pending: [Pending] = []
  @exclusivity(unchecked) private var firstSequence = 0
  @exclusivity(unchecked) private var output: [UInt8] = []
  /// The number of responses in `output`. `responsesInWrites` has the number for each write that the system has not yet
  /// accepted.
  @exclusivity(unchecked) private var responsesInOutput = 0
  private var responsesInWrites: [Int] = []
  /// The bytes of requests without a response, as last added to the sum over all connections.
  @exclusivity(unchecked) private var input = 0
  /// The total number of bytes that have entered the write queue.
  private var bytesQueued = 0
  /// The number of writes that are known to be done and whose completion is still to come.
  private var writesKnownToBeDone = 0

  @exclusivity(unchecked) private var isProcessing = false
  /// Whether no further request is accepted: the last one ends the connection, or was refused.
  @exclusivity(unchecked) private var hasLastRequest = false
  /// Whether the client has closed its side.
  @exclusivity(unchecked) private var inputHasEnded = false
  /// Whether the last read filled the loop's buffer, so that there is probably more.
  @exclusivity(unchecked) private var lastReadWasFull = false
  @exclusivity(unchecked) private var deadlines: HTTPConnectionDeadlines

  private static let readBufferSize = 64 * 1024
  /// The number of bytes of output beyond which `process` writes before it parses the next request.
  private static let outputLimit = 64 * 1024

  init(_ tcp: TCPConnection, endpoint: HTTPEndpoint) {
    self.tcp = tcp
    self.endpoint = endpoint
    loop = tcp.loop
    parser = HTTPRequestParser(limits: endpoint.settings.limits)
    unsafe deadlines = HTTPConnectionDeadlines(settings: endpoint.settings, now: .now)
  }

  // MARK: The beginning and the end

  /// Starts reading. The connection lives until its socket is closed.
  func start() {
    connect()
    settle()
  }

  /// Responds with `error` to any input, and closes.
  func start(refusing error: HTTPError) {
    connect()
    answer(error)
    finishOutput()
  }

  private func connect() {
    // The socket drops these closures when it closes, which ends the references to the connection.
    unsafe tcp.onRead = { unsafe self.received($0) }
    tcp.onEnd = { self.ended() }
    tcp.onDrain = { self.process() }
    tcp.onClose = { _ in self.closed() }
  }

  /// Closes at once, and aborts requests in flight.
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

  /// Accepts as many requests as may be in flight at one time, and writes the finished responses.
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
    // In its place: after the responses to all earlier requests.
    if unsafe pending.isEmpty, unsafe !hasLastRequest, parser.takeContinue() {
      unsafe output.append(literal: "HTTP/1.1 100 Continue\r\n\r\n")
    }
    finishOutput()
  }

  /// Refuses a partly received request if all connections together have sent too much.
  private func limitInput() {
    let waiting = parser.waitingBytes
    // The usual case: every received request has its response.
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

  /// Responds instead of the handler, and accepts no further request: the start of the next message is not known.
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

  /// Accepts the response to one request.
  func deliver(_ response: HTTPResponse, _ sequence: Int) {
    let index = unsafe sequence - firstSequence
    guard unsafe phase != .closed, unsafe pending.indices.contains(index) else { return }
    if index == 0 {
      serialise(response)
      writeAnswered()
    } else {
      // Released only afterwards: the closure captures objects of the handler.
      let abandoned = unsafe pending[index].abandoned
      unsafe pending[index].response = response
      unsafe pending[index].abandoned = nil
      withExtendedLifetime(abandoned) {}
    }
    // If the handler responds at once, this call returns and the loop in `process` continues.
    process()
  }

  /// Responds for a handler that has dropped a request while the client still waits.
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

  /// Appends to `output` the responses whose turn it is.
  private func writeAnswered() {
    while let response = unsafe pending.first?.response { serialise(response) }
  }

  /// Serialises the response to the first of `pending`, and removes that request.
  private func serialise(_ response: HTTPResponse) {
    // Released only at the end: the closure captures objects of the handler.
    let abandoned = unsafe pending[0].abandoned
    defer { withExtendedLifetime(abandoned) {} }
    let keepAlive = unsafe pending[0].keepAlive && !isLastWhileDraining
    if !keepAlive { unsafe hasLastRequest = true }
    unsafe response.serialise(
      into: &output, isHead: pending[0].isHead, keepAlive: keepAlive, isOld: pending[0].isOld,
      date: endpoint.date.now())
    if unsafe pending[0].isRequest { unsafe responsesInOutput += 1 }
    // The usual case, in which nothing has to move.
    if unsafe pending.count == 1 { unsafe pending.removeLast() } else { unsafe pending.removeFirst() }
    unsafe firstSequence += 1
  }

  /// Whether the first pending request is the last of the connection: the endpoint is draining, and nothing of another
  /// request has arrived.
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
      // Counted now, because the completions would come after a close that follows at once.
      HTTPCounters.increase(endpoint.counters.answered, by: responsesInWrites.reduce(0, +))
      writesKnownToBeDone += responsesInWrites.count
      responsesInWrites.removeAll(keepingCapacity: true)
    }
  }

  /// Handles the completion of a write. Completions come in the order of the writes.
  private func wrote(_ error: EventLoopError?) {
    if writesKnownToBeDone > 0 {
      writesKnownToBeDone -= 1
    } else if error == nil, !responsesInWrites.isEmpty {
      HTTPCounters.increase(endpoint.counters.answered, by: responsesInWrites.removeFirst())
    }
    // After a failure the connection is closing, and `closed` counts the lost responses.
    if error == nil, bytesTaken == nil { settle() }
  }

  /// The number of queued bytes that the system has accepted so far; nil if no byte is waiting.
  private var bytesTaken: Int? {
    let queued = tcp.writeQueueSize
    return queued > 0 ? bytesQueued - queued : nil
  }

  private func finishOutput() {
    flush()
    settle()
  }

  // MARK: Between two events

  /// Selects the next event to wait for: the end, more input, a response, or room for output.
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

  /// Closes the output side, and waits a moment for the client to close its side: closing with unread input would reset
  /// the connection and could cost the client the last response.
  private func finish() {
    unsafe phase = .lingering
    if unsafe inputHasEnded {
      tcp.closeAfterWrites()
    } else {
      // The client's time begins when all output has been sent.
      tcp.shutdown { _ in self.waitForEnd() }
      tcp.resumeReading()
    }
    waitForEnd()
  }

  private func waitForEnd() {
    guard tcp.isOpen else { return }
    unsafe deadlines.update(.end(taken: bytesTaken), isDraining: endpoint.isDraining, for: self)
  }

  /// Handles the deadline's timer.
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
