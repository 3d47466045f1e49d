import BeansSessions

/// A store whose saves and rotations run a hook of the test before or after the call.
struct HookedStore: SessionStore {
  typealias Hook = @Sendable () async throws(SessionError) -> Void

  let inner: any SessionStore
  var afterSave: Hook?
  var beforeRotate: Hook?

  init(_ inner: any SessionStore, afterSave: Hook? = nil, beforeRotate: Hook? = nil) {
    (self.inner, self.afterSave, self.beforeRotate) = (inner, afterSave, beforeRotate)
  }

  func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    try await inner.create(id, values)
  }

  func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    try await inner.load(id, unlessVersion: version)
  }

  func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64 {
    let version = try await inner.save(id, change)
    try await afterSave?()
    return version
  }

  func rotate(_ id: String, to other: String) async throws(SessionError) {
    try await beforeRotate?()
    try await inner.rotate(id, to: other)
  }

  func end(_ id: String) async throws(SessionError) { try await inner.end(id) }
}
