public import CBeansRuntime
public import Synchronization

/// Using a bean of a plain environment without counting oneself in and out of anything that threads share.
///
/// A lookup usually enters an environment and leaves it, which keeps beans from being released meanwhile and costs two
/// locked instructions, on a word that all threads meet at. For beans that stand in a plain environment, which ends once
/// in the life of a process or a tenant, it is enough that each thread writes down for itself whose bean it is using.
/// Whoever wants to release that environment flags it, has all threads run a memory barrier, and reads their notes: a
/// note it does not see was written by somebody who then sees the flag. If there is one, its writer, who looks at the
/// flag when it has crossed the note out, goes on with the release.
extension Environment {
  /// Notes the use of an object that has been asked for before, as of a class that `type` names: the one of a type's
  /// beans that threads look up all the time. nil where that, or anything, is otherwise.
  @inlinable @inline(__always)
  func lendAtOnce(_ type: ObjectIdentifier) -> (object: UnsafeRawPointer, note: Note)? {
    let (home, place) = header.plan._withUnsafeGuaranteedRef {
      ($0.home?.toOpaque(), $0.index.guess(UInt(bitPattern: type)))
    }
    // Only an address until the note says that it is used. Where there is no home, none stands in the index.
    guard place.pointee.known == UInt(bitPattern: type), let object = place.pointee.standingReference,
      let noted = beans_lend_first(home)
    else { return nil }
    let note = Note(place: noted)
    if header.state.load(ordering: .acquiring) & (State.gate | State.hosted) == 0 { return (object, note) }
    giveUp(note)
    return nil
  }

  /// Notes the use of the bean that `find` finds, if that stands in a plain environment, here or further out; unknown
  /// where it is not ready, or the ordinary way has to be gone. `known` is its place then, if there is one.
  ///
  /// A prototype that is made of such beans only is built, and the caller's.
  @inline(__always)
  func borrow(
    _ known: inout UnsafeMutablePointer<EdgeIndex.Place>?,
    _ find: (borrowing EdgeIndex) -> UnsafeMutablePointer<EdgeIndex.Place>?
  ) throws -> Borrowed {
    guard let home = header.plan._withUnsafeGuaranteedRef({ $0.home }), let place = beans_lend(home.toOpaque()) else {
      return .unknown
    }
    let note = Note(place: place)
    // A child that has not begun to end keeps its ancestors from doing so.
    if header.state.load(ordering: .acquiring) & (State.gate | State.hosted) != 0 {
      giveUp(note)
      return .unknown
    }
    known = header.plan._withUnsafeGuaranteedRef { find($0.index) }
    if let known {
      if let argument = known.pointee.standing { return Borrowed(argument: argument, note: note) }
      if known.pointee.canBeLent { return try borrow(note, known) }
    }
    note.giveBack()
    return .unknown
  }

  /// The bean has not been seen to stand yet.
  @inline(never)
  private func borrow(_ note: Note, _ place: UnsafeMutablePointer<EdgeIndex.Place>) throws -> Borrowed {
    let edge = place.pointee.edge
    if let argument = edge._withUnsafeGuaranteedRef({ $0.standing }) {
      place.pointee.remember(argument)
      return Borrowed(argument: argument, note: note)
    }
    if let prototype = edge._withUnsafeGuaranteedRef({ $0.prototype }),
      let settled = prototype._withUnsafeGuaranteedRef({ $0.flat }), settled.pointee.isRooted,
      let access = edge._withUnsafeGuaranteedRef({ $0.direct })
    {
      do {
        let object = Unmanaged.passRetained(try buildRooted(settled)).toOpaque()
        return Borrowed(argument: Argument(object: object, access: access, isOwned: true), note: note)
      } catch {
        note.giveBack()
        throw error
      }
    }
    note.giveBack()
    return .unknown
  }

  /// Nothing can be borrowed here, or not any more.
  @usableFromInline @inline(never)
  func giveUp(_ note: Note) {
    // What a nested `configure` was handed does not hold the environments around it, which may be gone.
    if header.setup?.isTemplate == true, header.parent == nil { beans_return(note.place) } else { note.giveBack() }
  }

  /// Whether some thread is using a bean of this environment, which then releases it; see above.
  ///
  /// The children of factories lend nothing, and are spared the barrier.
  var isLent: Bool { header.setup != nil && beans_is_lent(Unmanaged.passUnretained(self).toOpaque()) }

  /// Whether the calling thread is using a bean of this environment, or of one below.
  var isLentHere: Bool {
    (0..<UInt32(BEANS_LENDS)).contains { index in
      guard let owner = beans_lend_owner(index) else { return false }
      return Unmanaged<Environment>.fromOpaque(owner)._withUnsafeGuaranteedRef {
        $0 === self || $0.isDescendant(of: self)
      }
    }
  }

  /// Whether beans may be lent at all.
  static var canLend: Bool { hasBarrier }
}

/// A bean in use until its note is given back: not retained, unless it is new.
@usableFromInline
struct Borrowed {
  @usableFromInline let argument: Argument
  /// nil where the argument is unknown.
  @usableFromInline let note: Note?

  static var unknown: Borrowed { Borrowed(argument: .unknown, note: nil) }

  /// The same with a reference for the caller, who then needs no note. Of what is known.
  @inline(__always)
  func kept() -> Argument {
    let argument = argument.retained()
    note.unsafelyUnwrapped.giveBack()
    return argument
  }
}

/// Where the calling thread has written down whose bean it is using: that environment's address.
@usableFromInline
struct Note {
  @usableFromInline let place: UnsafeMutablePointer<UnsafeRawPointer?>

  @inlinable @inline(__always)
  init(place: UnsafeMutablePointer<UnsafeRawPointer?>) { self.place = place }

  @inlinable @inline(__always)
  func giveBack() {
    let home = place.pointee
    beans_return(place)
    // A note names an environment.
    Unmanaged<Environment>.fromOpaque(home.unsafelyUnwrapped)._withUnsafeGuaranteedRef { home in
      if home.header.state.load(ordering: .relaxed) & Environment.State.finishing != 0 { Self.goOn(home) }
    }
  }

  /// Whoever began the end may have found the note.
  @usableFromInline @inline(never)
  static func goOn(_ home: Environment) { home.releaseIfQuiet() }
}

extension Edge {
  /// Whether it leads to a bean that may stand in a plain environment, or be made of nothing but such beans.
  var canBeLent: Bool { fixed != nil || prototype != nil }

  /// A bean that stands in a plain environment and needs no conversion; not retained.
  @inline(__always)
  var standing: Argument? {
    guard let object = fixed?.pointee.object else { return nil }
    if let access = direct { return Argument(object: object, access: access, isOwned: false) }
    guard let form, form.fits(object) else { return nil }
    return Argument(object: object, access: .existential, isOwned: false, form: .passUnretained(form))
  }
}
