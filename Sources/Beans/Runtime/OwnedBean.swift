import BeansErrors
import Synchronization

/// A bean that its taker gives back, or that its environment releases.
final class OwnedBean: OwnedInstance {
  /// An object that belongs to an `Owned`.
  enum Part {
    case prototype(AnyObject, FrozenReference<Recipe>)
    /// The bean of an `Owned` that the build has taken.
    case owned(OwnedBean)
  }

  private let cell: ObjectCell
  private let ending: BeanEnding?
  /// The environment, which releases the bean at the latest. Weak: the environment retains this object.
  private weak let environment: Environment?
  /// The number of beans in slots when this one was made. Those beans are released after it.
  let position: Int
  /// The prototypes that were made for the bean, and the beans that it owns, oldest first. They are released after it.
  private let parts: [OwnedBean]

  private init(
    _ object: AnyObject?, _ ending: BeanEnding?, and parts: [OwnedBean], in environment: Environment, position: Int
  ) {
    cell = ObjectCell(object)
    self.ending = ending
    self.parts = parts
    self.environment = environment
    self.position = position
    // Without a bean, the environment has only the parts to release.
    if object != nil { environment.extras.add(owned: self) }
  }

  /// Creates an owned bean from the objects that were made for it.
  ///
  /// - Parameters:
  ///   - object: the bean; nil where its build has failed.
  ///   - made: all objects that were made for it, oldest first. The bean is one of them, unless it is a face of another
  ///     bean.
  ///   - environment: releases it at the latest.
  convenience init(_ object: AnyObject?, madeOf made: [Part], in environment: Environment) {
    let position = environment.core.lock.withLock { environment.createdBeans }
    environment.extras.needsCare.store(true, ordering: .relaxed)
    var ending: BeanEnding?
    var parts: [OwnedBean] = []
    for part in made {
      switch part {
      case .owned(let bean): parts.append(bean)
      case .prototype(let part, let recipe):
        guard let end = BeanEnding(part, of: recipe) else { continue }
        if part === object {
          ending = end
        } else {
          parts.append(OwnedBean(part, end, and: [], in: environment, position: position))
        }
      }
    }
    self.init(object, ending, and: parts, in: environment, position: position)
  }

  var object: AnyObject? { cell.object }

  /// The bean, if its release has to be awaited.
  var awaitedBean: BeanDefinition? { if let ending, ending.isAsynchronous { ending.bean } else { nil } }

  /// Returns the bean to the first caller, which then has to release it; nil for every later caller.
  func take() -> (object: ObjectReference, ending: BeanEnding?)? {
    cell.take().map { ($0, ending) }
  }

  /// The bean and all objects that belong to it, in the order of their releases.
  private var all: [OwnedBean] { [self] + parts.reversed().flatMap(\.all) }

  func release() throws {
    for part in all where part.object != nil {
      guard let bean = part.awaitedBean else { continue }
      throw bean.fault(.asynchronousRelease, "\(bean.label) is released asynchronously: use 'await release()'")
    }
    try Self.throwFailures(all.compactMap { $0.releaseAlone() })
  }

  func release() async throws {
    var failures: [any Error] = []
    for bean in all {
      if let failure = await bean.releaseAlone() { failures.append(failure) }
    }
    try Self.throwFailures(failures)
  }

  private static func throwFailures(_ failures: [any Error]) throws {
    let failure = EnvironmentError.combining(failures, code: .destructionFailed) {
      "\($0) releases of the beans of one Owned failed"
    }
    if let failure { throw failure }
  }

  /// Releases the parts that need not be awaited; the environment releases the others.
  func releaseWhatNeedNotBeAwaited() {
    let environment = environment
    for part in all where part.ending?.isAsynchronous == false {
      if let failure = part.releaseAlone() { environment?.note(failure) }
    }
  }

  private func releaseAlone() -> EnvironmentError? {
    guard let turn = begin() else { return nil }
    defer { turn.end() }
    return turn.release(canAwait: false)?.run()
  }

  private func releaseAlone() async -> EnvironmentError? {
    guard let turn = begin() else { return nil }
    defer { turn.end() }
    return await turn.release()
  }

  /// The release of the bean by its owner. The end of the environment waits for it, unless that end has begun already:
  /// then either of the two releases the bean.
  private struct Turn {
    let object: ObjectReference
    let ending: BeanEnding?
    let environment: Environment?
    let isInside: Bool

    func release(canAwait: Bool) -> BeanRelease? {
      ending.map { BeanRelease($0, object, at: environment?.name ?? "prototype", environment, canAwait: canAwait) }
    }

    func release() async -> EnvironmentError? {
      guard let release = release(canAwait: true) else { return nil }
      guard release.isAwaited else { return release.run() }
      if release.ending.limit == nil { return await release.callInTask() }
      return await withCheckedContinuation { continuation in
        release.start { failure, _ in continuation.resume(returning: failure) }
      }
    }

    func end() {
      object.release()
      if isInside { environment?.leave() }
    }
  }

  /// Begins the release; nil for every caller but the first.
  private func begin() -> Turn? {
    let environment = environment
    let isInside = environment?.changeLocked { $0.enter(before: .closed) } ?? false
    guard let (object, ending) = take() else {
      if isInside { environment?.leave() }
      return nil
    }
    environment?.existingExtras?.forget(owned: self)
    return Turn(object: object, ending: ending, environment: environment, isInside: isInside)
  }
}
