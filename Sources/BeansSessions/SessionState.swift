import Beans
@_spi(BeansPackage) import BeansErrors

/// The seed of a session's environment: the values that beans keep beyond a request, and the bytes that a store has for
/// them.
///
/// A bean declares its kept values when it is built. Each environment of the session, on any node, builds the bean anew
/// from those values:
///
/// ```swift
/// final class Cart: Sendable {
///   private let lines: SessionValue<[Line]>
///   init(state: SessionState) throws { lines = try state.value("cart", default: []) }
/// }
/// let sessions = try application.childFactory("session", seed: SessionState.self) { session in
///   try session.define(session.bean(Cart.self, factory: Cart.init))
/// }
/// ```
///
/// Safe from any thread.
public final class SessionState: Sendable {
  private let record: [String: SessionRecord.Value]
  private let unreadable: UnreadableValues
  /// The requests inside the session, which share its values.
  let members = SessionMembers()
  private let state: Locked<State>

  private struct State {
    var version: UInt64
    /// Whether no other node has changed a value up to that version since the session was read.
    var isExact = true
    var values: [String: any KeptValue] = [:]
  }

  /// Creates the empty state of a new session, for sessions in memory.
  public convenience init() { self.init(nil, UnreadableValues()) }

  init(_ record: SessionRecord?, _ unreadable: UnreadableValues) {
    self.record = record?.values ?? [:]
    self.unreadable = unreadable
    state = Locked(State(version: record?.version ?? 0))
  }

  /// Returns the value of a name. Every call with one name returns the same object.
  ///
  /// A value that is missing in the store starts as its default. The next save writes the default, so that a default
  /// made of random numbers stays the same. A default alone causes no save.
  ///
  /// - Parameters:
  ///   - name: the name of the value in the store; unique in a session.
  ///   - schema: names the form of the stored value, without a zero byte. Stored bytes of another form, or bytes that
  ///     cannot be decoded, are treated as absent and logged.
  ///   - makeDefault: the value where the store has none; called before `value` returns, or never.
  ///   - onConflict: the treatment of a change where another node has changed the value meanwhile.
  /// - Throws: `EnvironmentError.invalidDeclaration` where the name has been declared in another way; any error of
  ///   `makeDefault`.
  public func value<Value: Codable & Sendable>(
    _ name: String, schema: String = "1", default makeDefault: @autoclosure () throws -> Value,
    onConflict: SessionConflictRule = .overwrite
  ) throws -> SessionValue<Value> {
    let declaration = SessionValueDeclaration(name: name, schema: schema, onConflict: onConflict)
    if let known = state.withLock({ $0.values[name] }) { return try check(known, declaration) }
    if schema.utf8.contains(0) { throw invalid(declaration, "its schema contains a zero byte") }
    // Decoding and the default run code of the caller, so no lock is held. When two threads make a value, the first is
    // kept.
    let stored = record[name]
    var reason: SessionValueCoding.Unreadable?
    var made: SessionValue<Value>?
    if let stored {
      do throws(SessionValueCoding.Unreadable) {
        let value = try SessionValueCoding.decode(Value.self, stored.bytes, schema: schema)
        made = SessionValue(value, declaration, stored: stored, members)
      } catch {
        reason = error
      }
    }
    let value = try made ?? SessionValue(default: makeDefault(), declaration, version: stored?.version ?? 0, members)
    let known = state.withLock { state -> (any KeptValue)? in
      if let known = state.values[name] { return known }
      state.values[name] = value
      return nil
    }
    if let known { return try check(known, declaration) }
    if let reason { unreadable.note(declaration, Value.self, reason) }
    return value
  }

  private func check<Value>(
    _ known: any KeptValue, _ declaration: SessionValueDeclaration
  ) throws -> SessionValue<Value> {
    if known.declaration == declaration, let value = known as? SessionValue<Value> { return value }
    throw invalid(
      declaration,
      "it is declared as \(text(of: known)), and as \(SessionValue<Value>.self) of schema '\(declaration.schema)'")
  }

  private func text(of value: any KeptValue) -> String { "\(type(of: value)) of schema '\(value.declaration.schema)'" }

  private func invalid(_ declaration: SessionValueDeclaration, _ fault: String) -> EnvironmentError {
    EnvironmentError(
      .invalidDeclaration, "the value '\(declaration.name)' of a session: \(fault)", path: ["'\(declaration.name)'"])
  }

  // MARK: saving

  /// The version of the session up to which this state includes all changes; 0 for a new session.
  var version: UInt64 { state.withLock { $0.version } }

  /// Returns the changes that a save has to write now; nil where nothing has changed.
  ///
  /// - Throws: `.notEncodable`.
  func pendingSave() throws(SessionError) -> PendingSave? {
    let (version, isExact, values) = state.withLock { ($0.version, $0.isExact, Array($0.values.values)) }
    var entries: [PendingSave.Entry] = []
    for value in values {
      if let change = try value.change() { entries.append(PendingSave.Entry(value: value, change: change)) }
    }
    return entries.contains { !$0.change.isDefault }
      ? PendingSave(version: version, isExact: isExact, entries: entries) : nil
  }

  /// Records that a store has written a save.
  func saved(_ save: PendingSave, version: UInt64) {
    for entry in save.entries { entry.value.saved(entry.change, version: version) }
    state.withLock { state in
      // Other versions in between are changes by other nodes, which this state does not contain.
      if version != save.version + 1 { state.isExact = false }
      state.version = version
    }
  }
}
