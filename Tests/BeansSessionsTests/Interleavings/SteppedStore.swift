import BeansSessions

/// A store each of whose calls waits twice: before it has an effect, and before its reply arrives.
struct SteppedStore: SessionStore {
  let inner: any SessionStore
  let steps: Steps

  func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    try await call("create") { () async throws(SessionError) in try await inner.create(id, values) }
  }

  func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    try await call("load") { () async throws(SessionError) in try await inner.load(id, unlessVersion: version) }
  }

  func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64 {
    try await call("save") { () async throws(SessionError) in try await inner.save(id, change) }
  }

  func rotate(_ id: String, to other: String) async throws(SessionError) {
    try await call("rotate") { () async throws(SessionError) in try await inner.rotate(id, to: other) }
  }

  func end(_ id: String) async throws(SessionError) {
    try await call("end") { () async throws(SessionError) in try await inner.end(id) }
  }

  private func call<R>(_ name: String, _ body: () async throws(SessionError) -> R) async throws(SessionError) -> R {
    guard await steps.wait(.sent(name)) else { throw .unavailable("the call was not sent") }
    let result: Result<R, SessionError>
    steps.beginCall()
    do throws(SessionError) { result = .success(try await body()) } catch { result = .failure(error) }
    steps.endCall()
    guard await steps.wait(.done(name)) else {
      throw name == "load" ? .unavailable("the reply was lost") : .outcomeUnknown("the reply was lost")
    }
    return try result.get()
  }
}
