/// The sessions of one parent in a store that several parents share. In the store, each id begins with the name of the
/// parent.
///
/// Keys of different parents never collide, because the id after the last colon contains no colon.
struct NamedSessionStore: SessionStore {
  let name: String
  let store: any SessionStore

  func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    try await store.create(named(id), values)
  }

  func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    try await store.load(named(id), unlessVersion: version)
  }

  func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64 {
    try await store.save(named(id), change)
  }

  func rotate(_ id: String, to other: String) async throws(SessionError) {
    try await store.rotate(named(id), to: named(other))
  }

  func end(_ id: String) async throws(SessionError) { try await store.end(named(id)) }

  private func named(_ id: String) -> String { "\(name):\(id)" }
}
