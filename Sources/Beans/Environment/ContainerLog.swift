import BeansLogging

/// What environments say about themselves: to the logger "Beans.Environment", from `debug` up, and to the traces
/// "beans.loader" (startup) and "beans.runtime" (each bean, and the end).
///
/// Plans have it from their ancestors, the outermost one from the process's. Single beans are only spoken of where that was
/// wanted when the environment started: the plan is made for it then, so that it costs nothing otherwise.
struct ContainerLog: Sendable {
  let logger: Logger
  let tracer: Tracer

  private static let name = "Beans.Environment"
  private static let loader = "beans.loader"
  private static let runtime = "beans.runtime"

  /// That of the process.
  static let shared = ContainerLog(logger: LogManager.getLogger(forName: name), tracer: .shared)

  private init(logger: Logger, tracer: Tracer) {
    self.logger = logger
    self.tracer = tracer
  }

  /// Of a manager that is not installed.
  init(_ manager: LogManager, _ tracer: Tracer) {
    self.init(logger: manager.getLogger(forName: Self.name), tracer: tracer)
  }

  /// Whether single beans are spoken of.
  var followsBeans: Bool { logger.isEnabled(.debug) || tracer.isEnabled(Self.runtime, level: .high) }

  // MARK: startup

  func starting(_ name: String) {
    logger.debug("starting '\(name)'")
    tracer.trace(Self.loader, level: .low, message: "start '\(name)'")
  }

  func compiled(_ plan: Plan) {
    tracer.trace(
      Self.loader, level: .medium,
      message: "'\(plan.name)': \(plan.definitions.count) beans declared, \(plan.slotCount) slots, "
        + "\(plan.processors.count) post processors, \(plan.factories.count) factories")
    guard tracer.isEnabled(Self.loader, level: .full) else { return }
    for recipe in plan.sorted {
      tracer.trace(Self.loader, level: .full, message: "'\(plan.name)': \(recipe.label) \(Self.needs(of: recipe))")
    }
  }

  private static func needs(of recipe: Recipe) -> String {
    let needs = recipe.dependencies.map(\.label)
    return needs.isEmpty ? "needs nothing" : "needs \(needs.joined(separator: ", "))"
  }

  func started(_ name: String) {
    logger.debug("started '\(name)'")
    tracer.trace(Self.loader, level: .low, message: "started '\(name)'")
  }

  func failed(_ name: String, _ error: any Error) {
    logger.debug("'\(name)' did not start: \(error)")
    tracer.trace(Self.loader, level: .low, message: "'\(name)' did not start: \(error)")
  }

  // MARK: beans, where they are followed

  func creating(_ recipe: Recipe, in name: String) {
    tracer.trace(Self.runtime, level: .high, message: "create \(recipe.label) in '\(name)'")
  }

  func created(_ recipe: Recipe, in name: String) {
    logger.debug("created \(recipe.label) in '\(name)'")
    tracer.trace(Self.runtime, level: .full, message: "created \(recipe.label) in '\(name)'")
  }

  func failed(_ recipe: Recipe, in name: String, _ error: any Error) {
    logger.debug("\(recipe.label) in '\(name)' was not created: \(error)")
    tracer.trace(Self.runtime, level: .high, message: "\(recipe.label) in '\(name)' was not created: \(error)")
  }

  func releasing(_ recipe: Recipe, in name: String) {
    tracer.trace(Self.runtime, level: .high, message: "release \(recipe.label) in '\(name)'")
  }

  // MARK: the end

  func finished(_ name: String, released: Int) {
    logger.debug("finished '\(name)': \(released) beans released")
    tracer.trace(Self.runtime, level: .low, message: "finished '\(name)': \(released) beans released")
  }
}
