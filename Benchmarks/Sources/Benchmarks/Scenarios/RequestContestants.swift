import Beans
import CMeasure

/// The contestants of the request scenario. Each makes the eight beans of a request, uses the first, drops them all.
enum RequestContestants {
  static let containerName = "Beans, seed: a class instance"
  private static let contextName = "hand-written with a context object"
  private static let valueName = "Beans, seed: an Int"
  private static let disposableName = "Beans, 2 of 8 disposable"

  private static let swiftName = "Beans, root by its properties, in Swift"
  private static let pathName = "Beans, root by its properties, by key path"
  private static let xmlName = "Beans, root by its properties, in XML"

  static let allocationsBeyondBeans = [
    (contextName, 1.0), (containerName, 1), (valueName, 2), (disposableName, 1), (swiftName, 1), (pathName, 1),
    (xmlName, 1),
  ]

  static func handwritten() -> Contestant {
    let application = HandwrittenApplication()
    return Contestant("hand-written") { count in
      for _ in 0..<count { use(application.makeRequest()) }
    } hold: { count, held in
      hold(count, held) { application.makeRequest() }
    }
  }

  static func handwrittenContext() -> Contestant {
    let application = HandwrittenApplication()
    return Contestant(contextName) { count in
      for _ in 0..<count { use(HandwrittenRequest(application)) }
    } hold: { count, held in
      hold(count, held) { HandwrittenRequest(application) }
    }
  }

  static func handwrittenDisposable() -> Contestant {
    let application = HandwrittenApplication()
    return Contestant("hand-written, 2 of 8 closed at the end") { count in
      for _ in 0..<count { application.serveDisposableRequest() }
    }
  }

  /// The seed is an object that exists before the request does.
  static func container() throws -> Contestant {
    let seed = RequestSeed(number: 1)
    return contestant(containerName, try ContainerApplication(seed: RequestSeed.self), R0.self) { _ in seed }
  }

  /// The seed is a value, which the container boxes: one more allocation.
  static func containerWithValue() throws -> Contestant {
    contestant(valueName, try ContainerApplication(seed: Int.self), R0.self) { $0 }
  }

  static func containerDisposable() throws -> Contestant {
    let seed = RequestSeed(number: 1)
    let application = try ContainerApplication(
      seed: RequestSeed.self, configure: ContainerApplication<RequestSeed>.declareDisposableRequest)
    return contestant(disposableName, application, D0.self) { _ in seed }
  }

  static func handwrittenProperties() -> Contestant {
    let application = HandwrittenApplication()
    return Contestant("hand-written, root by its properties") { count in
      for _ in 0..<count { use(application.makePropertyRequest()) }
    } hold: { count, held in
      hold(count, held) { application.makePropertyRequest() }
    }
  }

  static func containerInSwift() throws -> Contestant {
    try containerProperties(swiftName, ContainerApplication<RequestSeed>.declarePropertyRequestInSwift)
  }

  static func containerByKeyPath() throws -> Contestant {
    try containerProperties(pathName, ContainerApplication<RequestSeed>.declarePropertyRequestByKeyPath)
  }

  /// The declarations from a document: a request must not notice.
  static func containerInXML() throws -> Contestant {
    try containerProperties(xmlName, ContainerApplication<RequestSeed>.declarePropertyRequestInXML)
  }

  private static func containerProperties(
    _ name: String, _ configure: (Environment) throws -> Void
  ) throws -> Contestant {
    let seed = RequestSeed(number: 1)
    let application = try ContainerApplication(seed: RequestSeed.self, configure: configure)
    let request = try application.requests.build(seed)
    let root = try request.getBean(P0.self)
    guard let r1 = root.r1, let r2 = root.r2, let r3 = root.r3 else {
      throw SelfCheckFailed(description: "self-check: '\(name)' leaves properties unset")
    }
    let environment = application.environment
    try SelfCheck.expect(
      isWired(R0(r1, r2, r3), environment.getBean(S16.self), environment.getBean(S19.self)),
      "'\(name)' wired the request wrongly")
    request.finish()
    return contestant(name, application, P0.self) { _ in seed }
  }

  @inline(__always)
  static func contestant<Seed, Root: AnyObject>(
    _ name: String, _ application: ContainerApplication<Seed>, _ root: Root.Type, seed: @escaping (Int) -> Seed
  ) -> Contestant {
    let requests = application.requests
    return Contestant(name) { count in
      for number in 0..<count {
        let request = try requests.build(seed(number))
        use(try request.getBean(root))
        request.finish()
      }
    } hold: { count, held in
      var children: [Environment] = []
      children.reserveCapacity(count)
      for number in 0..<count {
        let request = try requests.build(seed(number))
        use(try request.getBean(root))
        children.append(request)
      }
      held()
      for child in children { child.finish() }
    }
  }

  /// Keeps so many objects alive during `held`.
  static func hold<Object: AnyObject>(_ count: Int, _ held: () -> Void, _ make: () -> Object) {
    var objects: [Object] = []
    objects.reserveCapacity(count)
    for _ in 0..<count { objects.append(make()) }
    held()
    withExtendedLifetime(objects) {}
  }

  /// Both sides build the same graph, share the same objects, use the application's singletons, and release.
  static func check() throws {
    let byHand = HandwrittenApplication()
    try SelfCheck.expect(
      isWired(byHand.makeRequest(), byHand.s16, byHand.s19), "the hand-written request is wired wrongly")
    let application = try ContainerApplication(seed: Int.self)
    let request = try application.requests.build(1)
    let root = try request.getBean(R0.self)
    let environment = application.environment
    try SelfCheck.expect(
      isWired(root, environment.getBean(S16.self), environment.getBean(S19.self)),
      "the container wired the request wrongly")
    try SelfCheck.expect(try request.getBean(R0.self) === root, "the container built a bean twice")
    request.finish()
    try SelfCheck.expect(
      application.environment.statistics().contains { $0.scope == "request" && $0.released == 8 },
      "the container did not release eight beans")
    for contestant in [handwrittenDisposable(), try containerDisposable()] {
      let before = measure_release_count()
      try contestant.run(10)
      try SelfCheck.expect(
        measure_release_count() == before + 20, "'\(contestant.name)' did not release two beans of each")
    }
  }

  private static func isWired(_ r0: R0, _ s16: S16, _ s19: S19) -> Bool {
    r0.r1.r4 === r0.r2.r4 && r0.r2.r5 === r0.r3.r5 && r0.r1.r6 === r0.r3.r6 && r0.r1.r7 === r0.r1.r4.r7
      && r0.r1.r7 === r0.r3.r5.r7 && r0.r1.r7 === r0.r1.r6.r7 && r0.r1.r7.s16 === s16 && r0.r1.r4.s19 === s19
  }
}
