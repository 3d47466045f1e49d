@_spi(BeansPackage) import BeansErrors
import BeansSessions

/// The sessions as clients see them, checked against the promises. Has no notion of versions, nodes or stores.
///
/// Times count what has happened. A read may find what the last acknowledged write has written, or any write that was not
/// acknowledged before that one began. A request that begins after a refusal finds nothing of the refused request.
final class SessionHistory: Sendable {
  private let state = Locked(State())

  private struct Write {
    let token: Int
    let request: Int
    let begun: Int
    /// When it was acknowledged, if ever.
    var acknowledged: Int?
    /// The time at which the client received a refusal, if ever.
    var refused: Int?
  }

  /// A session with all its ids.
  private struct Session {
    /// A default made at random, which must not change.
    var owner: Int
    var writes: [String: [Write]] = [:]
    var isBeingEnded = false
  }

  private struct Id {
    let session: Int
    let name: String
    /// Since when no request may find the session by it.
    var dead: Int?
    /// True if a request may not find the session by it.
    var mayBeDead = false
  }

  struct Request {
    let id: String?
    let begun: Int
    var isNew = false
    var session: Int?
    var wantsRotation = false
    var wantsEnd = false
    var isOver = false
  }

  private struct State {
    var time = 0
    var sessions: [Session] = []
    var ids: [String: Id] = [:]
    var idsInOrder: [String] = []
    var requests: [Request] = []
    var lastExpiry = -1
    var events: [String] = []
    var violations: [String] = []

    mutating func tick() -> Int {
      time += 1
      return time
    }

    mutating func changeWrites(of request: Int, _ change: (inout Write) -> Void) {
      guard let session = requests[request].session else { return }
      for name in sessions[session].writes.keys {
        for place in sessions[session].writes[name, default: []].indices
        where sessions[session].writes[name]?[place].request == request {
          change(&sessions[session].writes[name, default: []][place])
        }
      }
    }

    func name(_ id: String?) -> String { id.map { ids[$0]?.name ?? "an unknown id" } ?? "no id" }
  }

  /// Ids that clients have been given so far, the oldest first.
  var ids: [String] { state.withLock { $0.idsInOrder } }
  var events: [String] { state.withLock { $0.events } }
  var violations: [String] { state.withLock { $0.violations } }
  var runningRequests: Int { state.withLock { $0.requests.count { !$0.isOver } } }

  func note(_ event: String) { state.withLock { $0.events.append(event) } }

  func fail(_ violation: String) { state.withLock { $0.violations.append(violation) } }

  // MARK: events

  /// Begins a request; returns its number.
  func begin(_ id: String?, _ what: String) -> Int {
    state.withLock { state in
      state.requests.append(Request(id: id, begun: state.tick()))
      let number = state.requests.count - 1
      state.events.append("request \(number) begins with \(state.name(id)): \(what)")
      return number
    }
  }

  /// The request is inside of its session.
  func entered(_ number: Int, isNew: Bool, owner: Int, values: [String: Int], count: Int) {
    state.withLock { state in
      _ = state.tick()
      var request = state.requests[number]
      request.isNew = isNew
      let text = values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      state.events.append(
        "request \(number) is in a\(isNew ? " new" : "") session of \(owner): \(text), count \(count)")
      let known = request.id.flatMap { state.ids[$0] }
      if isNew {
        if let known, !known.mayBeDead { state.violations.append("request \(number) has lost its session") }
        state.sessions.append(Session(owner: owner))
        request.session = state.sessions.count - 1
      } else if let known {
        request.session = known.session
        if let dead = known.dead, dead < request.begun {
          state.violations.append("request \(number) has found a session that had ended, or by an old id")
        }
        let session = state.sessions[known.session]
        if session.owner != owner { state.violations.append("request \(number): owner \(owner), not \(session.owner)") }
        for (name, token) in values.sorted(by: { $0.key < $1.key })
        where !Self.mayRead(token, session.writes[name], request) {
          state.violations.append(
            "request \(number) has read \(token) as '\(name)': an acknowledged change is lost, or a refused one is not")
        }
        let counted = session.writes["count"] ?? []
        let fewest = counted.count { ($0.acknowledged ?? .max) < request.begun }
        let most = counted.count { ($0.refused ?? .max) > request.begun }
        if count < fewest || count > most {
          state.violations.append("request \(number) has read \(count), not \(fewest) to \(most)")
        }
      } else {
        state.violations.append("request \(number) has found a session by an id that nobody was given")
      }
      state.requests[number] = request
    }
  }

  /// A negative number is a default.
  private static func mayRead(_ token: Int, _ writes: [Write]?, _ request: Request) -> Bool {
    let writes = writes ?? []
    let write = writes.first { $0.token == token }
    if write == nil, token >= 0 { return false }
    if let refused = write?.refused, refused < request.begun { return false }
    let acknowledged = write == nil ? -1 : write?.acknowledged ?? .max
    return !writes.contains { $0.begun > acknowledged && ($0.acknowledged ?? .max) < request.begun }
  }

  /// The request is about to change a value. A token is the time, so that each is another.
  func write(_ number: Int, _ name: String) -> Int {
    state.withLock { state in
      let time = state.tick()
      if let session = state.requests[number].session {
        state.sessions[session].writes[name, default: []].append(Write(token: time, request: number, begun: time))
      }
      state.events.append("request \(number) writes \(time) as '\(name)'")
      return time
    }
  }

  /// The request wants another id for its session.
  func rotates(_ number: Int) {
    state.withLock { state in
      state.requests[number].wantsRotation = true
      if let id = state.requests[number].id { state.ids[id]?.mayBeDead = true }
    }
  }

  /// The request wants its session ended.
  func ends(_ number: Int) {
    state.withLock { state in
      state.requests[number].wantsEnd = true
      guard let session = state.requests[number].session else { return }
      state.sessions[session].isBeingEnded = true
      for id in state.idsInOrder where state.ids[id]?.session == session { state.ids[id]?.mayBeDead = true }
    }
  }

  /// The client has received its response.
  func answered(_ number: Int, _ cookie: SessionCookie) {
    state.withLock { state in
      let (time, request) = (state.tick(), state.requests[number])
      state.requests[number].isOver = true
      guard let session = request.session else { return }
      state.changeWrites(of: number) { $0.acknowledged = time }
      if !request.isNew, let id = request.id, request.wantsEnd { state.ids[id]?.dead = time }
      if case .set(let id) = cookie {
        if state.ids[id] != nil { state.violations.append("request \(number) was given an id that another one has") }
        if !request.isNew {
          if !request.wantsRotation { state.violations.append("request \(number) was given an id without asking") }
          if let old = request.id { state.ids[old]?.dead = time }
        }
        state.ids[id] = Id(
          session: session, name: "id \(state.ids.count)",
          mayBeDead: state.sessions[session].isBeingEnded || state.lastExpiry > request.begun)
        state.idsInOrder.append(id)
      }
      let text =
        switch cookie {
        case .unchanged: "the cookie unchanged"
        case .removed: "no cookie any more"
        case .set(let id): state.name(id)
        }
      state.events.append("request \(number) is answered: \(text)")
    }
  }

  /// The client has received an error.
  func failed(_ number: Int, _ error: any Error) {
    state.withLock { state in
      let time = state.tick()
      state.requests[number].isOver = true
      state.events.append("request \(number) fails: \(error)")
      if error is GivenUp { return }
      if let error = error as? SessionError {
        if case .outcomeUnknown = error { return }
        state.changeWrites(of: number) { $0.refused = time }
        return
      }
      state.violations.append("request \(number) fails with \(error)")
    }
  }

  /// The time passes after which each unused session is over.
  func expired() {
    state.withLock { state in
      let time = state.tick()
      state.lastExpiry = time
      for id in state.idsInOrder {
        state.ids[id]?.mayBeDead = true
        if state.ids[id]?.dead == nil { state.ids[id]?.dead = time }
      }
      state.events.append("all sessions expire")
    }
  }
}

/// The error with which a request gives up on purpose.
struct GivenUp: Error {}
