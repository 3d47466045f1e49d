import Beans
import CMeasure

/// Who takes part in the request scenario. Each makes the eight beans of a request, uses the first, drops them all.
enum RequestContestants {
  static func handwritten() -> Contestant {
    let application = HandwrittenApplication()
    return Contestant(name: "hand-written") { count in
      for _ in 0..<count { use(application.makeRequest()) }
    } hold: { count, held in
      hold(count, held) { application.makeRequest() }
    }
  }

  static func handwrittenContext() -> Contestant {
    let application = HandwrittenApplication()
    return Contestant(name: "hand-written with a context object") { count in
      for _ in 0..<count { use(HandwrittenRequest(application)) }
    } hold: { count, held in
      hold(count, held) { HandwrittenRequest(application) }
    }
  }

  /// The seed is an object that exists before the request does.
  static func container() throws -> Contestant {
    let application = try ContainerApplication(seed: RequestSeed.self)
    let seed = RequestSeed(number: 1)
    return contestant("Beans, seed: a class instance", application) { _ in seed }
  }

  /// The seed is a value, which the container boxes: one more allocation.
  static func containerWithValue() throws -> Contestant {
    let application = try ContainerApplication(seed: Int.self)
    return contestant("Beans, seed: an Int", application) { $0 }
  }

  private static func contestant<Seed>(
    _ name: String, _ application: ContainerApplication<Seed>, seed: @escaping (Int) -> Seed
  ) -> Contestant {
    let requests = application.requests
    return Contestant(name: name) { count in
      for number in 0..<count {
        let request = try requests.build(seed(number))
        use(try request.getBean(R0.self))
        request.finish()
      }
    } hold: { count, held in
      var children: [Environment] = []
      children.reserveCapacity(count)
      for number in 0..<count {
        let request = try requests.build(seed(number))
        use(try request.getBean(R0.self))
        children.append(request)
      }
      held()
      for child in children { child.finish() }
    }
  }

  private static func hold<Object: AnyObject>(_ count: Int, _ held: () -> Void, _ make: () -> Object) {
    var objects: [Object] = []
    objects.reserveCapacity(count)
    for _ in 0..<count { objects.append(make()) }
    held()
    withExtendedLifetime(objects) {}
  }

  /// Keeps the compiler from seeing that nobody needs the object.
  @inline(__always)
  private static func use(_ object: AnyObject) { measure_use(Unmanaged.passUnretained(object).toOpaque()) }
}
