import Testing

@testable import Storefront

/// Messages made up from a seed, most of them damaged: the parser accepts, refuses or waits.
///
/// `HOSTILE_MESSAGES` is the number of damaged ones, `HOSTILE_SEED` the first seed; a message depends on its seed
/// alone.
@Suite(.timeLimit(.minutes(20)))
struct HostileMessagesTests {
  /// So many at a time: every other seed is of the other part.
  private static let parts = 2

  @Test(
    "A message has the same outcome in one piece and in many; limits hold, and a refusal is final", arguments: 0..<parts
  )
  func hostileMessages(part: Int) throws {
    let first = (setting("HOSTILE_SEED") ?? 1) + part
    let count = ((setting("HOSTILE_MESSAGES") ?? 10_000) + part) / Self.parts
    var (seed, tried, damaged, requests, refusals) = (first, 0, 0, 0, 0)
    while damaged < count {
      defer { (seed, tried) = (seed + Self.parts, tried + 1) }
      var random = SplitMix64(seed: UInt64(seed))
      let made = Message(&random)
      let message = made.bytes
      let whole = Outcome(of: [message])
      let pieces = Outcome(of: message.cut(&random))
      guard whole == pieces, whole.faults.isEmpty, pieces.faults.isEmpty else {
        Issue.record(
          """
          HOSTILE_SEED=\(seed) \(String(decoding: message, as: UTF8.self).debugDescription): \(whole), in pieces \(pieces)
          """)
        return
      }
      if made.isDamaged { damaged += 1 }
      requests += whole.requests.count
      if whole.status != nil { refusals += 1 }
    }
    print("== \(damaged) damaged messages of \(tried): \(requests) requests, \(refusals) refusals")
    // A message refused at its first bytes tests nothing.
    #expect(requests > count / 5 && refusals > count / 5, "\(requests) requests, \(refusals) refusals")
  }
}

/// The outcome of bytes in a parser.
private struct Outcome: Equatable {
  private(set) var requests: [String] = []
  private(set) var bodies: [[UInt8]] = []
  /// The status with which the connection is refused.
  private(set) var status: HTTPStatus?
  /// The broken rules.
  private(set) var faults: [String] = []

  init(of pieces: [[UInt8]]) {
    let limits = HTTPLimits(requestLine: 200, head: 600, fields: 12, body: 300)
    let parser = HTTPRequestParser(limits: limits)
    var total = 0
    for piece in pieces {
      parser.append(piece)
      total += piece.count
      do {
        while let request = try parser.next() { take(request, limits) }
      } catch {
        note(error)
        break
      }
      if parser.waitingBytes > total { faults.append("\(parser.waitingBytes) bytes wait of \(total)") }
      _ = parser.takeContinue()
    }
    guard let status else { return }
    parser.append(Array("GET / HTTP/1.1\r\nHost: s\r\n\r\n".utf8))
    do {
      _ = try parser.next()
      faults.append("goes on behind a refusal")
    } catch {
      if error.status != status { faults.append("refused with \(error.status) behind \(status)") }
    }
    if parser.waitingBytes != 0 { faults.append("keeps bytes of what is refused") }
  }

  private mutating func note(_ error: HTTPError) {
    status = error.status
    if !(400...505).contains(error.status.rawValue) { faults.append("refused with \(error.status)") }
  }

  private mutating func take(_ request: HTTPRequest, _ limits: HTTPLimits) {
    if !request.path.hasPrefix("/"), request.path != "*" { faults.append("the path \(request.path)") }
    if request.body.count > limits.body { faults.append("a body of \(request.body.count)") }
    // Everything that a handler asks for.
    _ = try? request.queryFields()
    _ = try? CartChange(request)
    bodies.append(request.body)
    requests.append(
      """
      \(request.method) \(request.path) \(request.query ?? "-") \(request.keepAlive) \
      \(request.cookie("sid") ?? "-") \(request.contentType ?? "-") \(request.isFromAnotherSite) \(request.acceptsHTML)
      """)
  }
}

/// One to three requests after the grammar, most of them damaged here and there.
private struct Message {
  private(set) var bytes: [UInt8] = []
  let isDamaged: Bool

  init(_ random: inout SplitMix64) {
    let requests = Int.random(in: 1...3, using: &random)
    isDamaged = Int.random(in: 0..<8, using: &random) > 0
    for _ in 0..<requests { addRequest(&random) }
    if !isDamaged { return }
    for _ in 0..<Int.random(in: 1...3, using: &random) { damage(&random) }
  }

  private mutating func add(_ text: String) { bytes += text.utf8 }

  private mutating func addRequest(_ random: inout SplitMix64) {
    func one(_ usual: [String], _ unusual: [String]) -> String {
      (Int.random(in: 0..<12, using: &random) > 0 ? usual : unusual).randomElement(using: &random) ?? ""
    }
    add(one(["GET", "POST", "HEAD", "OPTIONS", "DELETE", "PUT"], ["CONNECT", "BREW", "get"]) + " ")
    add(one(["/", "/products", "/api/cart?product=1&quantity=2"], ["/%2e%2E/a%00b", "*", "http://shop/x", "//a?%zz"]))
    add(one([" HTTP/1.1\r\n"], [" HTTP/1.0\r\n", " HTTP/2.0\r\n", "\r\n"]))
    add(one(["Host: shop\r\n"], ["", "Host: shop, shop\r\n", "Host: [::1\r\n"]))
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      add(
        one(
          [
            "Cookie: sid=abc; sid=\"d\"; =;\r\n", "Connection: keep-alive, x\r\n", "Accept: text/html\r\n",
            "Origin: http://other\r\n", "Sec-Fetch-Site: cross-site\r\n", "X: \t\u{e4}\r\n",
          ],
          [
            "Connection: close\r\n", "Upgrade: h2c\r\n", " folded\r\n", "Host: shop\r\n", "X : y\r\n", ": z\r\n",
            "Expect: 100-continue\r\n",
          ]))
    }
    add(one(["Content-Type: application/json; a=b\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"], [""]))
    let body = one(
      ["", "", "product=1&action=add", #"{"product": 1, "quantity": -9223372036854775808}"#],
      ["{\"product\":[[[[", "\u{0}\u{ff}", String(repeating: "a", count: 301)])
    addBody(body, &random)
  }

  private mutating func addBody(_ body: String, _ random: inout SplitMix64) {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: add("\r\n" + body)
    case 1..<6:
      add("Transfer-Encoding: chunked\r\n\r\n")
      if !body.isEmpty { add(String(body.utf8.count, radix: 16) + ";x=\"y\"\r\n" + body + "\r\n") }
      add("0\r\nTrailer: 1\r\n\r\n")
    case 6: add("Transfer-Encoding: chunked\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    default: add("Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }
  }

  private mutating func damage(_ random: inout SplitMix64) {
    guard !bytes.isEmpty else { return }
    let index = Int.random(in: bytes.indices, using: &random)
    let end = min(bytes.count, index + Int.random(in: 1...40, using: &random))
    switch Int.random(in: 0..<7, using: &random) {
    case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
    case 1: bytes.remove(at: index)
    case 2: bytes.insert([10, 13, 32, 0, 58, 9, 44].randomElement(using: &random) ?? 10, at: index)
    case 3: bytes.insert(contentsOf: bytes[index..<end], at: index)
    case 4: bytes.removeSubrange(index..<end)
    case 5: bytes.insert(contentsOf: "99999999999999999999".utf8, at: index)
    default: bytes.removeSubrange(end...)
    }
  }
}

extension [UInt8] {
  /// The bytes in pieces, some of them single.
  fileprivate func cut(_ random: inout SplitMix64) -> [[UInt8]] {
    var (pieces, rest) = ([[UInt8]](), self[...])
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 1...(Bool.random(using: &random) ? 3 : 60), using: &random))
      pieces.append(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    return pieces
  }
}
