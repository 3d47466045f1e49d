import TestSupport
import Testing

@testable import Beans

/// Each test runs on a thread of its own, which uses no other object.
@Suite(.enabled("the system runs a memory barrier on all threads") { hasNotes() })
struct HazardPointerTests {
  /// An object that only these tests note.
  private final class Owner: Sendable {
    var reference: Unretained<Owner> { Unretained(self) }
    var isProtected: Bool { HazardPointer.isProtected(reference) }
  }

  @Test func anObjectIsNotedUntilItIsCleared() throws {
    try BackgroundThread {
      let (owner, other) = (Owner(), Owner())
      #expect(!owner.isProtected)
      let note = try #require(HazardPointer.protecting(owner.reference))
      #expect(owner.isProtected)
      #expect(!other.isProtected)
      #expect(HazardPointer.owners(Owner.self) == [owner.reference])
      note.clear()
      #expect(!owner.isProtected)
      #expect(HazardPointer.owners(Owner.self).isEmpty)
    }.value()
  }

  @Test func aNoteIsVisibleToAnotherThread() throws {
    let owner = Owner()
    let (noted, seen, cleared, checked) = (Gate(), Gate(), Gate(), Gate())
    let user = BackgroundThread {
      let note = try #require(HazardPointer.protecting(owner.reference))
      noted.open()
      try seen.wait()
      note.clear()
      cleared.open()
      // The thread still exists when the other one reads.
      try checked.wait()
    }
    try noted.wait()
    #expect(owner.isProtected)
    #expect(!HazardPointer.owners(Owner.self).contains(owner.reference))
    seen.open()
    try cleared.wait()
    #expect(!owner.isProtected)
    checked.open()
    try user.value()
  }

  @Test func eachUseHasANoteOfItsOwn() throws {
    try BackgroundThread {
      let owner = Owner()
      let notes = try (0..<3).map { _ in try #require(HazardPointer.protecting(owner.reference)) }
      for note in notes {
        #expect(owner.isProtected)
        note.clear()
      }
      #expect(!owner.isProtected)
    }.value()
  }

  @Test func aThreadHasRoomForSevenNotes() throws {
    try BackgroundThread {
      let owners = (0..<8).map { _ in Owner() }
      let notes = owners.map { HazardPointer.protecting($0.reference) }
      #expect(notes.map { $0 != nil } == Array(repeating: true, count: 7) + [false])
      #expect(owners.map(\.isProtected) == Array(repeating: true, count: 7) + [false])
      #expect(HazardPointer.owners(Owner.self) == owners.prefix(7).map(\.reference))
      // A place that has been cleared is used again.
      notes[3]?.clear()
      #expect(!owners[3].isProtected)
      let again = HazardPointer.protecting(owners[7].reference)
      #expect(again != nil)
      #expect(owners[7].isProtected)
      for note in notes.indices where note != 3 { notes[note]?.clear() }
      again?.clear()
      #expect(HazardPointer.owners(Owner.self).isEmpty)
    }.value()
  }

  @Test func aClearedNoteProtectsNothing() throws {
    try BackgroundThread {
      let (owner, other) = (Owner(), Owner())
      // The call allocates the record of the thread.
      try #require(HazardPointer.protecting(owner.reference)).clear()
      let first = try #require(HazardPointer.protecting(owner.reference))
      #expect(owner.isProtected)
      #expect(!other.isProtected)
      first.clear()
      #expect(!owner.isProtected)
      let next = try #require(HazardPointer.protecting(other.reference))
      #expect(other.isProtected)
      next.clear()
    }.value()
  }

  /// The guarantee of the notes: either the user sees the mark, or the marking thread sees the note.
  @Test func aNoteAndAMarkDoNotMissEachOther() throws {
    for _ in 0..<2_000 {
      let (owner, mark, looked) = (Owner(), Counter(), Gate())
      let isMissed = try onThreads(2) { number -> Bool in
        if number == 0 {
          defer { looked.open() }
          mark.increment()
          return !owner.isProtected
        }
        let note = try #require(HazardPointer.protecting(owner.reference))
        let isMissed = mark.value == 0
        // The use continues until the other thread has read.
        try looked.wait()
        note.clear()
        return isMissed
      }
      #expect(isMissed != [true, true])
    }
  }
}

private func hasNotes() -> Bool {
  let owner = Counter()
  let note = HazardPointer.protecting(Unretained(owner))
  note?.clear()
  return note != nil
}
