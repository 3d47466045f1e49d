@_spi(BeansPackage) import BeansErrors

/// The treatment of a change to a value that another node has changed since it was read.
public enum SessionConflictRule: Sendable, Hashable {
  /// The last writer wins.
  case overwrite
  /// No change of the request is saved. The request ends with `SessionError.conflict`.
  case refuse
}

/// One value of a session that a store keeps between requests; see `SessionState.value`.
///
/// Concurrent requests of one session on one node share one object. Safe from any thread.
///
/// A value is changed when its bytes at the end of a request differ from the bytes in the store. The value should be
/// of a value type, because a change behind a reference is not detected.
public final class SessionValue<Value: Codable & Sendable>: Sendable {
  /// The name of the value in the store.
  let name: String
  private let schema: String
  private let onConflict: SessionConflictRule
  private let members: SessionMembers
  private let state: Locked<State>

  private struct State {
    var value: Value
    /// The number of calls that may have changed the value.
    var generation = 0
    /// The generation of the stored value, or of the default.
    var savedGeneration = 0
    /// The default, as long as the store has no readable bytes.
    var original: Value?
    /// The bytes in the store, where they are readable.
    var bytes: [UInt8]?
    /// The version of the session that wrote the stored bytes; 0 for none.
    var version: UInt64
  }

  /// Creates a value from stored data.
  init(
    _ value: Value, _ declaration: SessionValueDeclaration, stored: SessionRecord.Value, _ members: SessionMembers
  ) {
    self.members = members
    (name, schema, onConflict) = (declaration.name, declaration.schema, declaration.onConflict)
    state = Locked(State(value: value, bytes: stored.bytes, version: stored.version))
  }

  /// Creates a value that is missing in the store, or stored in an unreadable form.
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

  /// Changes the value in one step. Changes by `body` before it throws are kept.
  ///
  /// `body` runs under the lock of this value, as in `Mutex.withLock`. It has to be short, and must not use this value
  /// other than through its argument.
  ///
  /// - Throws: the error of `body`.
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

/// The declaration of a value by beans.
struct SessionValueDeclaration: Hashable {
  let name: String
  let schema: String
  let onConflict: SessionConflictRule
}

/// A value of any type.
protocol KeptValue: AnyObject, Sendable {
  var declaration: SessionValueDeclaration { get }

  /// The last generation that the store has. A generation is the number of calls that may have changed the value.
  var savedGeneration: Int { get }

  /// Returns the change that a save has to write; nil where the store has the current value.
  ///
  /// - Throws: `.notEncodable`.
  func change() throws(SessionError) -> ValueChange?

  /// Records that a store has written a change that `change()` returned.
  func saved(_ change: ValueChange, version: UInt64)
}

/// A value that differs from the stored one.
struct ValueChange {
  let declaration: SessionValueDeclaration
  let bytes: [UInt8]
  /// The generation that was encoded.
  let generation: Int
  /// The version of the session that wrote the bytes to which the change was made.
  let seenVersion: UInt64
  /// Whether the value is an unchanged default, which the store lacks.
  let isDefault: Bool
}
