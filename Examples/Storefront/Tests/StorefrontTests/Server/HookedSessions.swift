import BeansSessions

@testable import Storefront

/// Sessions in memory, with hooks of a test around each save.
final class HookedSessions: SessionStore {
  typealias Hook = @Sendable (_ id: String) async throws(SessionError) -> Void

  private struct Hooks {
    var beforeSave: Hook?
    var afterSave: Hook?
  }

  private let inner = SessionLimits().memoryStore()
  private let hooks = Guarded(Hooks())

  /// Runs `hook` before each save from now on; a save that the hook throws for is not made.
  func beforeSave(_ hook: Hook?) { hooks.withLock { $0.beforeSave = hook } }

  /// Runs `hook` after each save from now on; a save that the hook throws for is made and fails.
  func afterSave(_ hook: Hook?) { hooks.withLock { $0.afterSave = hook } }

  func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    try await inner.create(id, values)
  }

  func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    try await inner.load(id, unlessVersion: version)
  }

  func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64 {
    try await hooks.withLock { $0.beforeSave }?(id)
    let version = try await inner.save(id, change)
    try await hooks.withLock { $0.afterSave }?(id)
    return version
  }

  func rotate(_ id: String, to other: String) async throws(SessionError) { try await inner.rotate(id, to: other) }

  func end(_ id: String) async throws(SessionError) { try await inner.end(id) }
}
