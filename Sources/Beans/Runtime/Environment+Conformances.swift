// What the declarations need of an environment.

extension Environment: EnvironmentMemory {
  @inline(__always)
  func releaseMemory() {
    // Nearly always a request that has ended.
    if !core.lifecycle.isReleased { letGoOfBeans() }
    scope.giveBack()
    // The slots of an environment that is not a child of a factory belong to its resources.
    if core.slots != room.slots, resources == nil { core.slots.deallocate() }
  }

  /// Drops the bean references of an environment that was deallocated without `finish`. No release callbacks run.
  private func letGoOfBeans() {
    // The sources of the configuration, too, may hold objects that hold them.
    defer { resources?.letGo() }
    guard let plan = core.plan, core.lifecycle.phase < .releasing else { return }
    let (log, slots) = (creationLog, core.slots)
    var index = log.count
    while index > 0 {
      index -= 1
      let content = slots[log[index]].content
      if content.isFilled { content.object.release() }
    }
    if plan.with({ $0.hasSeed }), slots[0].content.isFilled { slots[0].content.object.release() }
  }
}

extension Environment: BeanLookup {
  func provide<T>(_ type: T.Type, id: String?) throws -> T {
    try provide(type, id, from: nil) { try $0.find(type, id) }
  }

  func provide<T>(
    _ type: T.Type, _ id: String?, from module: ObjectIdentifier?, _ look: (Environment) throws -> T
  ) throws -> T {
    let environment = Environment.current.flatMap { $0.isDescendant(of: self) ? $0 : nil } ?? self
    do { return try look(environment) } catch let error as EnvironmentError {
      throw environment.reason(for: error, Parameter.of(type), id: id, from: module)
    }
  }
}
