// listing
import Beans
import BeansRunning
import Logging
import ServiceLifecycle

/// Runs an environment as one service: a graceful shutdown ends it in the order of its graph.
struct EnvironmentService: Service {
  let environment: Beans.Environment
  var options: Set<StartupOption> = []
  var shutdownLimit: Duration?

  func run() async throws {
    try await withGracefulShutdownHandler {
      try await environment.run(options: options, shutdownLimit: shutdownLimit)
    } onGracefulShutdown: {
      environment.stop()
    }
  }
}

/// Runs a service as a bean: the cancellation by the container becomes a graceful shutdown of this service alone.
final class ServiceBean<Base: Service>: RunnableBean {
  let base: Base
  private let logger: Logger

  init(_ base: Base, logger: Logger = Logger(label: "Services")) { (self.base, self.logger) = (base, logger) }

  func run() async throws {
    let group = ServiceGroup(services: [base], logger: logger)
    // Detached, because a group inherits the graceful shutdown of the group around it.
    let work = Task.detached { [base = Beans.Environment.current] in
      try await Beans.Environment.$current.withValue(base) { try await group.run() }
    }
    try await withTaskCancellationHandler {
      do { try await work.value } catch let error as ServiceGroupError
        where Task.isCancelled && error == .alreadyFinished()
      {}  // cancelled before its start
    } onCancel: {
      Task { await group.triggerGracefulShutdown() }
    }
  }
}
// end
