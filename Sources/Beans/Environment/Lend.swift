import CBeansRuntime
import Synchronization

/// Using a bean of a plain environment without counting oneself in and out of anything that threads share.
///
/// A lookup usually enters an environment and leaves it, which keeps beans from being released meanwhile and costs two
/// locked instructions, on a word that all threads meet at. For beans that stand in a plain environment, which ends once
/// in the life of a process or a tenant, it is enough that each thread writes down for itself whose bean it is using.
/// Whoever wants to release that environment flags it, has all threads run a memory barrier, and reads their notes: a
/// note it does not see was written by somebody who then sees the flag. If there is one, its writer, who looks at the
/// flag when it has crossed the note out, goes on with the release.
extension Environment {
  /// Calls `body` with a bean that stands in a plain environment, here or further out; nil where there is none ready, or
  /// the ordinary way has to be gone.
  @inline(__always)
  func lend<R>(_ type: ObjectIdentifier, _ id: String?, _ body: (Argument) throws -> R) rethrows -> R? {
    guard let home = header.plan._withUnsafeGuaranteedRef({ $0.homeHops }).map(ancestor) else { return nil }
    guard let note = beans_lend(home.toOpaque()) else { return nil }
    defer {
      beans_return(note)
      home._withUnsafeGuaranteedRef { home in
        if home.header.state.load(ordering: .relaxed) & State.finishing != 0 { home.releaseIfQuiet() }
      }
    }
    // A child that has not begun to end keeps its ancestors from doing so.
    guard header.state.load(ordering: .acquiring) & (State.gate | State.hosted) == 0 else { return nil }
    let index = header.plan._withUnsafeGuaranteedRef { $0.index }
    guard let edge = id.map({ index.find(type, $0) }) ?? index.find(type) else { return nil }
    guard let argument = edge._withUnsafeGuaranteedRef({ $0.standing }) else { return nil }
    return try body(argument)
  }

  /// Whether some thread is using a bean of this environment, which then releases it; see above.
  var isLent: Bool { setupIsOwn && beans_is_lent(Unmanaged.passUnretained(self).toOpaque()) }

  private var setupIsOwn: Bool { header.setup != nil }

  /// Whether the calling thread is using a bean of this environment, or of one below.
  var isLentHere: Bool {
    (0..<beans_lend_count()).contains { index in
      guard let owner = beans_lend_owner(index) else { return false }
      return Unmanaged<Environment>.fromOpaque(owner)._withUnsafeGuaranteedRef {
        $0 === self || $0.isDescendant(of: self)
      }
    }
  }

  /// Whether beans may be lent at all.
  static var canLend: Bool { hasBarrier }
}

extension Edge {
  /// A bean that stands in a plain environment and needs no conversion; not retained.
  @inline(__always)
  var standing: Argument? {
    guard let object = fixed?.pointee.object else { return nil }
    if let access = direct { return Argument(object: object, access: access, isOwned: false) }
    guard let form, form.fits(object) else { return nil }
    return Argument(object: object, access: .existential, isOwned: false, form: .passUnretained(form))
  }
}
