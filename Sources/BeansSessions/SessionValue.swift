@_spi(BeansPackage) import BeansSupport

/// What becomes of a change to a value that another node has changed since it was read.
public enum SessionConflictRule: Sendable, Hashable {
  /// The last writer wins.
  case overwrite
  /// Nothing of the request's changes is saved: it ends with `SessionError.conflict`.
  case refuse
}

/// One value of a session that a store keeps between requests; see `SessionState.value`.
///
/// Two requests of one session that run at the same time on one node have one object. Safe from any thread.
///
/// A value counts as changed when its bytes differ at the end of a request from those that the store has; so what is kept should
/// be a value type: what changes behind a reference is not noticed.
public final class SessionValue<Value: Codable & Sendable>: Sendable {
  /// What the store knows the value by.
  public let name: String
  private let schema: String
  private let onConflict: SessionConflictRule
  private let members: SessionMembers
  private let state: Locked<State>

  private struct State {
    var value: Value
    /// Counts calls that may have changed the value.
    var generation = 0
    /// The generation that the store has, or that is the default.
    var savedGeneration = 0
    /// The default, as long as the store has no bytes that can be read.
    var original: Value?
    /// What the store has, where that can be read.
    var bytes: [UInt8]?
    /// The session's version that wrote what the store has; 0 for nothing.
    var version: UInt64
  }

  /// A value as the store has it.
  init(
    _ value: Value, _ declaration: SessionValueDeclaration, stored: SessionRecord.Value, _ members: SessionMembers
  ) {
    self.members = members
    (name, schema, onConflict) = (declaration.name, declaration.schema, declaration.onConflict)
    state = Locked(State(value: value, bytes: stored.bytes, version: stored.version))
  }

  /// A value that the store does not have, or not in a form that can be read.
  init(
    default value: Value, _ declaration: SessionValueDeclaration, version: UInt64, _ members: SessionMembers
  ) {
    self.members = members
    (name, schema, onConflict) = (declaration.name, declaration.schema, declaration.onConflict)
    state = Locked(State(value: value, original: value, version: version))
  }

  /// The value.
  public var value: Value { state.withLock { $0.value } }

  /// Replaces the value.
  public func set(_ value: Value) { update { $0 = value } }

  /// Changes the value in one step. What has been changed when `body` throws stays changed.
  ///
  /// `body` runs under the lock of this value, as in `Mutex.withLock`: it has to be short, and must not use this value by
  /// other means.
  ///
  /// - Throws: what `body` throws.
  public func update<R: Sendable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> R
  ) throws(Failure) -> R {
    try state.withLock { state throws(Failure) in
      state.generation += 1
      members.note(self, state.generation)
      return try body(&state.value)
    }
  }
}

extension SessionValue: KeptValue {
  var declaration: SessionValueDeclaration {
    SessionValueDeclaration(name: name, schema: schema, onConflict: onConflict)
  }

  var savedGeneration: Int { state.withLock { $0.savedGeneration } }

  func change() throws(SessionError) -> ValueChange? {
    let now = state.withLock { $0 }
    let isUntouched = now.generation == now.savedGeneration
    if isUntouched, now.bytes != nil { return nil }
    let bytes = try SessionValueCoding.encode(now.value, declaration)
    if bytes == now.bytes {
      state.withLock { $0.savedGeneration = now.generation }
      return nil
    }
    var isDefault = isUntouched
    if !isDefault, let original = now.original {
      isDefault = try SessionValueCoding.encode(original, declaration) == bytes
    }
    return ValueChange(
      declaration: declaration, bytes: bytes, generation: now.generation, seenVersion: now.version, isDefault: isDefault
    )
  }

  func saved(_ change: ValueChange, version: UInt64) {
    state.withLock { state in
      state.savedGeneration = change.generation
      state.original = nil
      state.bytes = change.bytes
      state.version = version
    }
  }
}

/// What beans say of a value.
struct SessionValueDeclaration: Hashable {
  let name: String
  let schema: String
  let onConflict: SessionConflictRule
}

/// A value of whatever type.
protocol KeptValue: AnyObject, Sendable {
  var declaration: SessionValueDeclaration { get }

  /// The last generation that the store has. A generation is the number of calls that may have changed the value.
  var savedGeneration: Int { get }

  /// What a save has to write; nil where the store has it.
  ///
  /// - Throws: `.notEncodable`.
  func change() throws(SessionError) -> ValueChange?

  /// Records that a store has written a change that `change()` returned.
  func saved(_ change: ValueChange, version: UInt64)
}

/// A value that differs from what the store has.
struct ValueChange {
  let declaration: SessionValueDeclaration
  let bytes: [UInt8]
  /// The generation that was encoded.
  let generation: Int
  /// The session's version that wrote what the change was made to.
  let seenVersion: UInt64
  /// Whether nobody has changed it: the store lacks it.
  let isDefault: Bool
}
