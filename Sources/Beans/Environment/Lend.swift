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
  /// Notes the use of the bean whose edge `find` finds, if that stands in a plain environment, here or further out; nil
  /// where it is not ready, or the ordinary way has to be gone. `known` is the edge, if there is one.
  ///
  /// A prototype that is made of such beans only is built, and the caller's.
  @inline(__always)
  func borrow(_ find: (EdgeIndex) -> Unmanaged<Edge>?, _ known: inout Unmanaged<Edge>?) throws -> Borrowed? {
    let hops = header.plan._withUnsafeGuaranteedRef { $0.homeHops }
    if hops < 0 { return nil }
    let home = ancestor(hops)
    guard let note = beans_lend(home.toOpaque()) else { return nil }
    // A child that has not begun to end keeps its ancestors from doing so.
    if header.state.load(ordering: .acquiring) & (State.gate | State.hosted) == 0 {
      known = edge(find)
      if let edge = known {
        if let argument = edge._withUnsafeGuaranteedRef({ $0.standing }) {
          return Borrowed(argument: argument, home: home, note: note)
        }
        if let prototype = edge._withUnsafeGuaranteedRef({ $0.prototype }) {
          do {
            if let argument = try build(prototype, for: edge) {
              return Borrowed(argument: argument, home: home, note: note)
            }
          } catch {
            Borrowed.end(note, home)
            throw error
          }
        }
      }
    }
    Borrowed.end(note, home)
    return nil
  }

  @inline(never)
  private func build(_ prototype: Unmanaged<Recipe>, for edge: Unmanaged<Edge>) throws -> Argument? {
    try prototype._withUnsafeGuaranteedRef { recipe in
      guard recipe.flat?.pointee.isRooted == true, let access = edge._withUnsafeGuaranteedRef({ $0.direct }) else {
        return nil
      }
      let object = Unmanaged.passRetained(try buildUntracked(recipe))
      return Argument(object: object.toOpaque(), access: access, isOwned: true)
    }
  }

  /// What the plan's index knows.
  @inline(__always)
  func edge(_ find: (EdgeIndex) -> Unmanaged<Edge>?) -> Unmanaged<Edge>? {
    header.plan._withUnsafeGuaranteedRef { $0.index._withUnsafeGuaranteedRef(find) }
  }

  /// Whether some thread is using a bean of this environment, which then releases it; see above.
  ///
  /// The children of factories lend nothing, and are spared the barrier.
  var isLent: Bool { header.setup != nil && beans_is_lent(Unmanaged.passUnretained(self).toOpaque()) }

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

/// A bean in use, not retained unless it is new, until `giveBack`. Those of one thread are given back in reverse order.
@usableFromInline
struct Borrowed {
  @usableFromInline let argument: Argument
  fileprivate let home: Unmanaged<Environment>
  fileprivate let note: UnsafeMutablePointer<beans_lends>

  @usableFromInline
  func giveBack() { Self.end(note, home) }

  @inline(__always)
  static func end(_ note: UnsafeMutablePointer<beans_lends>, _ home: Unmanaged<Environment>) {
    beans_return(note)
    home._withUnsafeGuaranteedRef { home in
      if home.header.state.load(ordering: .relaxed) & Environment.State.finishing != 0 { goOn(home) }
    }
  }

  /// Whoever began the end may have found the note.
  @inline(never)
  private static func goOn(_ home: Environment) { home.releaseIfQuiet() }
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
