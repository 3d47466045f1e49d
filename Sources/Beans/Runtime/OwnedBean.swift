import BeansErrors

/// A bean that its taker gives back, or that its environment releases.
final class OwnedBean: OwnedInstance {
  private let cell: ObjectCell
  private let ending: BeanEnding?
  /// The environment, which releases the bean at the latest. Weak: the environment retains this object.
  private weak let environment: Environment?
  /// The number of beans in slots when this one was made. Those beans are released after it.
  let position: Int
  /// The prototypes that were made for the bean, and the beans that it owns, oldest first. They are released after it.
  private let parts: [OwnedBean]

  /// Creates an owned bean.
  ///
  /// - Parameters:
  ///   - object: the bean; nil for parts alone.
  ///   - ending: the release of the bean; nil where dropping the reference is enough.
  ///   - parts: the prototypes that were made for it, and the beans that it owns.
  ///   - environment: releases it at the latest.
  ///   - position: the number of older beans in the environment's slots.
  init(
    _ object: AnyObject?, _ ending: BeanEnding?, and parts: [OwnedBean] = [], in environment: Environment,
    position: Int
  ) {
    cell = ObjectCell(object)
    self.ending = ending
    self.parts = parts
    self.environment = environment
    self.position = position
  }

  var object: AnyObject? { cell.object }

  /// The bean, if its release has to be awaited.
  var awaitedBean: BeanDefinition? { ending.flatMap { $0.isAsynchronous ? $0.bean : nil } }

  /// Returns the bean to the first caller, which then has to release it; nil for every later caller.
  func take() -> (object: ObjectReference, ending: BeanEnding?)? {
    cell.take().map { ($0, ending) }
  }

  /// The bean and all objects that belong to it, in the order of their releases.
  private var all: [OwnedBean] { [self] + parts.reversed().flatMap(\.all) }

  func release() throws {
    for bean in all {
      guard let ending = bean.ending, ending.isAsynchronous, bean.object != nil else { continue }
      throw ending.bean.fault(
        .asynchronousRelease, "\(ending.bean.label) is released asynchronously: use 'await release()'")
    }
    var failures: [any Error] = []
    for bean in all {
      do { try bean.releaseAlone() } catch { failures.append(error) }
    }
    try Self.throwFailures(failures)
  }

  func release() async throws {
    var failures: [any Error] = []
    for bean in all {
      do { try await bean.releaseAlone() } catch { failures.append(error) }
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
      do { try part.releaseAlone() } catch {
        if let failure = error as? EnvironmentError { environment?.note(failure) }
      }
    }
  }

  private func releaseAlone() throws {
    try whileKept { object, ending, site in ending.run(object, at: site) }
  }

  private func releaseAlone() async throws {
    try await whileKept { object, ending, site in
      guard Disposer(ending, at: site, canAwait: true).next() == .await else { return ending.run(object, at: site) }
      if ending.limit != nil {
        return await withCheckedContinuation { continuation in
          ending.start(object, at: site, on: nil) { failure, _ in continuation.resume(returning: failure) }
        }
      }
      return await Environment.$releasing.withValue(site.environment) {
        await ending.runAsynchronously(object.object)
      }
    }
  }

  /// Runs the release, once. The end of the environment waits for it, unless that end has begun already: then either of
  /// the two releases the bean.
  private func whileKept(
    _ release: (ObjectReference, BeanEnding, ReleaseSite) throws -> EnvironmentError?
  ) throws {
    // The site retains the environment.
    let site = site
    let isInside = enter(site.environment)
    defer { if isInside { site.environment?.leave() } }
    guard let (object, ending) = takeBack() else { return }
    defer { object.release() }
    if let ending, let failure = try release(object, ending, site) { throw failure }
  }

  private func whileKept(
    _ release: (ObjectReference, BeanEnding, ReleaseSite) async throws -> EnvironmentError?
  ) async throws {
    let site = site
    let isInside = enter(site.environment)
    defer { if isInside { site.environment?.leave() } }
    guard let (object, ending) = takeBack() else { return }
    defer { object.release() }
    if let ending, let failure = try await release(object, ending, site) { throw failure }
  }

  /// The site of a release by the owner, beside the environment.
  private var site: ReleaseSite {
    let environment = environment
    return ReleaseSite(name: environment?.name ?? "prototype", environment: environment, isOfScope: true)
  }

  private func takeBack() -> (object: ObjectReference, ending: BeanEnding?)? {
    let taken = take()
    if taken != nil { environment?.existingExtras?.forget(owned: self) }
    return taken
  }

  private func enter(_ environment: Environment?) -> Bool {
    environment?.changeLocked { lifecycle in
      if !lifecycle.isEnding { lifecycle.enter() }
      return !lifecycle.isEnding
    } ?? false
  }
}
