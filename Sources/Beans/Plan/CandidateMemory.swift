import BeansReflection

/// The results of outward searches through directories, for the duration of one compilation.
///
/// A deeply nested level passes a search on to its parent, which caches the directory found. If levels repeat a search,
/// its time does not depend on the depth.
final class CandidateMemory {
  /// A search that starts at a directory.
  private struct Search: Hashable {
    let directory: ObjectIdentifier
    let wanted: SearchGoal
  }

  private enum SearchGoal: Hashable {
    case type(ObjectIdentifier)
    case declaration(Int)
  }

  /// The candidates of protocol types; finding them takes a walk over all beans.
  private var protocolCandidates = [Search: [Int32]]()
  private var nearest = [Search: BeanDirectory?]()

  /// Returns the beans of a directory that can be used as a type.
  @inline(never)
  func candidates(_ directory: BeanDirectory, _ type: Any.Type) -> [Int32] {
    guard TypeRelation.isExistential(type) else { return directory.candidates(for: type) }
    let search = Search(directory: ObjectIdentifier(directory), wanted: .type(ObjectIdentifier(type)))
    if let found = protocolCandidates[search] { return found }
    let found = directory.candidates(for: type)
    protocolCandidates[search] = found
    return found
  }

  /// Returns the nearest directory outside `directory`, beginning with its parent, that has candidates for a type.
  func nearest(outside directory: BeanDirectory, with type: Any.Type) -> BeanDirectory? {
    nearest(outside: directory, .type(ObjectIdentifier(type))) { !candidates($0, type).isEmpty }
  }

  /// Returns the nearest directory outside `directory`, beginning with its parent, that has a declaration.
  func nearest(outside directory: BeanDirectory, declaring number: Int) -> BeanDirectory? {
    nearest(outside: directory, .declaration(number)) { $0.number(declared: number) != nil }
  }

  private func nearest(
    outside directory: BeanDirectory, _ wanted: SearchGoal, _ isFound: (BeanDirectory) -> Bool
  ) -> BeanDirectory? {
    guard let parent = directory.parent else { return nil }
    let search = Search(directory: ObjectIdentifier(parent), wanted: wanted)
    if let known = nearest[search] { return known }
    var next = Optional(parent)
    while let level = next, !isFound(level) {
      // An earlier search covers the levels from there outwards.
      if let outer = level.parent,
        let known = nearest[Search(directory: ObjectIdentifier(outer), wanted: wanted)]
      {
        next = known
        break
      }
      next = level.parent
    }
    nearest[search] = .some(next)
    return next
  }
}

extension BeanDirectory {
  /// Returns the directories that declare beans which can be used as `type`, nearest first, with those beans.
  func levels(
    with type: Any.Type, _ memory: CandidateMemory?
  ) -> some Sequence<(directory: BeanDirectory, numbers: [Int32])> {
    sequence(state: Optional(self)) { next in
      let found = next?.nearestLevel(with: type, memory)
      next = found?.directory.parent
      return found
    }
  }

  /// Returns the nearest directory, from this one outwards, that declares beans which can be used as `type`, with those
  /// beans.
  func nearestLevel(
    with type: Any.Type, _ memory: CandidateMemory?
  ) -> (directory: BeanDirectory, numbers: [Int32])? {
    guard let memory else {
      var next = Optional(self)
      while let level = next {
        let numbers = level.candidates(for: type)
        if !numbers.isEmpty { return (level, numbers) }
        next = level.parent
      }
      return nil
    }
    let own = memory.candidates(self, type)
    if !own.isEmpty { return (self, own) }
    return memory.nearest(outside: self, with: type).map { ($0, memory.candidates($0, type)) }
  }
}
