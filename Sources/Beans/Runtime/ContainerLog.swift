import BeansLogging

/// The log messages and traces of environments: messages to the logger "Beans.Environment", from `debug` up, and traces
/// to "beans.loader" (startup) and "beans.runtime" (each bean, and the end).
///
/// Single beans are only logged if this was enabled when the environment started: its plan is compiled for it.
struct ContainerLog: Sendable {
  let logger: Logger
  let tracer: Tracer

  private static let loader = "beans.loader"
  private static let runtime = "beans.runtime"

  /// The log of the process.
  static let shared = ContainerLog(logger: LogManager.getLogger(forName: "Beans.Environment"), tracer: .shared)

  /// Whether single beans are logged.
  var followsBeans: Bool { logger.isEnabled(.debug) || tracer.isEnabled(Self.runtime, level: .high) }

  // MARK: startup

  func starting(_ name: String) {
    logger.debug("starting '\(name)'")
    tracer.trace(Self.loader, level: .low, message: "start '\(name)'")
  }

  func compiled(_ plan: Plan, factories: Int, needs: (FrozenReference<Recipe>) -> [String]) {
    tracer.trace(
      Self.loader, level: .medium,
      message: "'\(plan.name)': \(plan.directory.beans.count) beans declared, \(plan.layout.slots) slots, "
        + "\(plan.services.processors.count) post processors, \(factories) factories")
    guard tracer.isEnabled(Self.loader, level: .full) else { return }
    for number in plan.order.sorted {
      let (label, needs) = (plan.recipe(number).value.definition.label, needs(plan.recipe(number)))
      let text = needs.isEmpty ? "nothing" : needs.joined(separator: ", ")
      tracer.trace(Self.loader, level: .full, message: "'\(plan.name)': \(label) needs \(text)")
    }
  }

  func unnamed(_ profiles: [String], in name: String) {
    for profile in profiles { logger.warn("'\(name)': \(profile)") }
  }

  /// Warns of the beans that threads share and that are not known to be `Sendable`, once for an environment.
  func shared(_ plan: Plan) {
    let beans = plan.sharedBeans
    if beans.isEmpty { return }
    let named = beans.prefix(5).map { "\($0.label) (\($0.location.origin))" }.joined(separator: ", ")
    let rest = beans.count > 5 ? " and \(beans.count - 5) more" : ""
    logger.warn(
      "'\(plan.name)': threads share beans that are not known to be Sendable: \(named)\(rest); report() lists them, and "
        + "startup(options: [.requireSendable]) refuses them")
  }

  func started(_ name: String) { say("started '\(name)'", Self.loader, .low) }

  func failed(_ name: String, _ error: any Error) { say("'\(name)' did not start: \(error)", Self.loader, .low) }

  /// Writes a message to the logger and to a trace.
  private func say(_ message: @autoclosure () -> String, _ path: String, _ level: Tracer.Level) {
    logger.debug(message())
    tracer.trace(path, level: level, message: message())
  }

  // MARK: beans, where they are followed

  func creating(_ label: String, in name: String) {
    tracer.trace(Self.runtime, level: .high, message: "create \(label) in '\(name)'")
  }

  func created(_ label: String, in name: String) { say("created \(label) in '\(name)'", Self.runtime, .full) }

  func failed(_ label: String, in name: String, _ error: any Error) {
    say("\(label) in '\(name)' was not created: \(error)", Self.runtime, .high)
  }

  func releasing(_ label: String, in name: String) {
    tracer.trace(Self.runtime, level: .high, message: "release \(label) in '\(name)'")
  }

  /// Warns of a thread that waits for long.
  func waiting(_ message: String) { logger.warn(message) }

  // MARK: the end

  func finished(_ name: String, released: Int) {
    say("finished '\(name)': \(released) beans released", Self.runtime, .low)
  }
}
