import BeansReflection

/// The results of outward searches through directories, for the duration of one compilation.
///
/// A deeply nested level passes a search on to its parent, which caches the directory found. If levels repeat a search,
/// its time does not depend on the depth.
final class CandidateMemory {
  /// The candidates of protocol types; finding them takes a walk over all beans.
  private var protocolCandidates = [BeanDirectory.SearchKey: [Int32]]()
  /// The directories found, by the directory at which the search starts.
  private var nearest = [BeanDirectory.SearchKey: BeanDirectory?]()

  /// Returns the beans of a directory that can be used as a type.
  @inline(never)
  func candidates(_ directory: BeanDirectory, _ type: Any.Type) -> [Int32] {
    guard TypeRelation.isExistential(type) else { return directory.candidates(for: type) }
    let search = BeanDirectory.SearchKey(directory, as: type)
    if let found = protocolCandidates[search] { return found }
    let found = directory.candidates(for: type)
    protocolCandidates[search] = found
    return found
  }

  /// Returns the nearest directory outside `directory`, beginning with its parent, that has candidates for a type.
  func nearest(outside directory: BeanDirectory, with type: Any.Type) -> BeanDirectory? {
    guard let parent = directory.parent else { return nil }
    if let known = nearest[BeanDirectory.SearchKey(parent, as: type)] { return known }
    var next = Optional(parent)
    while let level = next, candidates(level, type).isEmpty {
      // An earlier search covers the levels from there outwards.
      if let outer = level.parent, let known = nearest[BeanDirectory.SearchKey(outer, as: type)] {
        next = known
        break
      }
      next = level.parent
    }
    nearest[BeanDirectory.SearchKey(parent, as: type)] = .some(next)
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
      for level in sequence(first: self, next: \.parent) {
        let numbers = level.candidates(for: type)
        if !numbers.isEmpty { return (level, numbers) }
      }
      return nil
    }
    let own = memory.candidates(self, type)
    if !own.isEmpty { return (self, own) }
    return memory.nearest(outside: self, with: type).map { ($0, memory.candidates($0, type)) }
  }
}
