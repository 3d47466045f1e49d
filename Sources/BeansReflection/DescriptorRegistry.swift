@_spi(BeansPackage) import BeansErrors
import CBeansRuntime

/// All bean descriptors of the process.
///
/// Descriptors are made outside of the lock, each by one thread; other threads wait for it. A thread that needs the
/// descriptor that it is making itself, directly or through other threads, gets the unfinished descriptor.
enum DescriptorRegistry {
  private enum Step {
    case found(BeanDescriptor)
    case fail(EnvironmentError)
    case wait(Making)
    case make
  }

  /// One descriptor whose initializer is running, with its thread.
  private final class Making: Sendable {
    let thread = UInt(beans_thread())
    let descriptor: BeanDescriptor
    var key: WaitForGraph.Key { WaitForGraph.Key(self) }

    init(_ descriptor: BeanDescriptor) { self.descriptor = descriptor }
  }

  private struct State {
    /// The descriptors in flight. A class is in exactly one of `making`, `made` and `failed`.
    var making: [ObjectIdentifier: Making] = [:]
    var made: [ObjectIdentifier: BeanDescriptor] = [:]
    var failed: [ObjectIdentifier: EnvironmentError] = [:]
    var subclasses: [ObjectIdentifier: [BeanDescriptor]] = [:]

    func step(for type: AnyClass) -> Step {
      let key = ObjectIdentifier(type)
      if let descriptor = made[key] { return .found(descriptor) }
      if let error = failed[key] { return .fail(error) }
      return making[key].map { .wait($0) } ?? .make
    }

    /// Records the result for a class. A class fails with its superclass, even if the superclass's initializer
    /// requested its descriptor.
    mutating func publish(_ descriptor: BeanDescriptor, _ failure: EnvironmentError?) {
      let key = ObjectIdentifier(descriptor.getBeanClass())
      let superclass = descriptor.getSuperBean().map { ObjectIdentifier($0.getBeanClass()) }
      making[key] = nil
      if let failure = failure ?? superclass.flatMap({ failed[$0] }) {
        made[key] = nil
        failed[key] = failure
        for subclass in subclasses.removeValue(forKey: key) ?? [] { publish(subclass, failure) }
      } else {
        made[key] = descriptor
        if let superclass { subclasses[superclass, default: []].append(descriptor) }
      }
    }
  }

  private static let state = Locked(State())

  static func descriptor(of type: AnyClass) throws -> BeanDescriptor {
    while true {
      switch state.withLock({ $0.step(for: type) }) {
      case .found(let descriptor): return descriptor
      case .fail(let error): throw error
      case .wait(let making):
        if try !wait(for: making) { return making.descriptor }
      case .make:
        let superBean = try _getSuperclass(type).map(descriptor(of:))
        make(Making(BeanDescriptor(type, superBean: superBean)))
      }
    }
  }

  static func subclasses(of type: AnyClass) -> [BeanDescriptor] {
    state.withLock { $0.subclasses[ObjectIdentifier(type)] ?? [] }
  }

  /// Runs the initializer and publishes its result; returns at once if another thread was first.
  private static func make(_ making: Making) {
    let descriptor = making.descriptor
    let type: AnyClass = descriptor.getBeanClass()
    let isFirst = state.withLock { state in
      guard case .make = state.step(for: type) else { return false }
      state.making[ObjectIdentifier(type)] = making
      return true
    }
    guard isFirst else { return }
    var failure: EnvironmentError?
    do {
      try (type as? any BeanDescriptorInitializer.Type)?.initializeBeanDescriptor(descriptor)
    } catch let error as EnvironmentError {
      failure = error
    } catch {
      failure = EnvironmentError(
        .invalidDeclaration, "the initializer of \(type)'s bean descriptor threw: \(error)", underlying: [error])
    }
    state.withLock { [failure] in $0.publish(descriptor, failure) }
    WaitForGraph.end(making.key, nil)
  }

  /// Whether the descriptor is finished; false if it cannot finish before the caller continues.
  private static func wait(for making: Making) throws -> Bool {
    if making.thread == UInt(beans_thread()) { return false }
    let type: AnyClass = making.descriptor.getBeanClass()
    do {
      try WaitForGraph.wait(for: making.key, "descriptor of \(type)", in: "bean descriptors", origin: nil) {
        state.withLock { $0.making[ObjectIdentifier(type)] === making ? making.thread : nil }
      }
      return true
    } catch let error as EnvironmentError where error.code == .cyclicDependency {
      return false
    }
  }
}
