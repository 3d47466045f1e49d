@_spi(BeansPackage) import BeansSupport
import BeansLogging
import CBeansRuntime
import Synchronization

/// Caches one instance per bean and releases them in reverse order of creation on `finish()`.
///
/// A subclass that overrides nothing but `name` is a complete scope. Creation is single-flight per bean; no lock is
/// held while a bean is built. After `finish()` the scope is empty and may be used again.
open class AbstractBeanScope: BeanScope, @unchecked Sendable {  // `state` is the only mutable state, under its mutex
  /// What declarations call it.
  public let name: String

  /// Beans are published by the mutex around it.
  private struct State: @unchecked Sendable {
    var instances: [ObjectIdentifier: AnyObject] = [:]
    var builds: [ObjectIdentifier: Build] = [:]
    var order: [BeanDeclaration] = []
    var failures: [any Error] = []
  }
  /// One creation under way, by that thread.
  private final class Build: Sendable {
    let thread = UInt(beans_thread())
    var key: UInt { UInt(bitPattern: ObjectIdentifier(self)) }
  }
  /// Carries a bean out of the mutex to the one thread that asked.
  private enum Step: @unchecked Sendable { case found(AnyObject), wait(Build), build(Build) }

  private let state = Locked(State())
  private static let logger = LogManager.getLogger(forName: "Beans.Scope")

  /// Creates a scope of that name.
  public init(name: String) { self.name = name }

  /// Does nothing; override to create beans early.
  open func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {}

  /// The kept instance, or a new one that is kept from now on.
  open func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject {
    let key = ObjectIdentifier(bean)
    while true {
      let step: Step = state.withLock { state in
        if let instance = state.instances[key] { return .found(instance) }
        if let build = state.builds[key] { return .wait(build) }
        let build = Build()
        state.builds[key] = build
        return .build(build)
      }
      switch step {
      case .found(let instance): return instance
      // The builder has kept the instance or failed; in that case it is this thread's turn.
      case .wait(let build):
        try BuildQueue.wait(for: build.key, bean.label, in: "scope \(name)", origin: bean.origin) {
          state.withLock { $0.builds[key] === build ? build.thread : nil }
        }
      case .build(let build):
        defer {
          state.withLock { $0.builds[key] = nil }
          BuildQueue.end(build.key, nil)
        }
        let instance = try factory.create(bean)
        keep(Kept(bean: bean, instance: instance))
        return instance
      }
    }
  }

  /// Releases what is kept, last created first. Failures are logged and thrown by the environment's `shutdown()`.
  open func finish() {
    let kept = state.withLock { state in
      let kept = state
      state.instances = [:]
      state.order = []
      return kept
    }
    for bean in kept.order.reversed() {
      guard let instance = kept.instances[ObjectIdentifier(bean)] else { continue }
      do {
        try bean.destroy(instance)
      } catch {
        Self.logger.error("scope '\(name)': \(error)")
        state.withLock { $0.failures.append(error) }
      }
    }
  }

  /// What failed since the last call.
  func takeFailures() -> [any Error] {
    state.withLock { state in
      defer { state.failures = [] }
      return state.failures
    }
  }

  /// Carries a bean into the mutex.
  private struct Kept: @unchecked Sendable {
    let bean: BeanDeclaration
    let instance: AnyObject
  }

  private func keep(_ kept: Kept) {
    state.withLock { state in
      state.instances[ObjectIdentifier(kept.bean)] = kept.instance
      state.order.append(kept.bean)
    }
  }
}
