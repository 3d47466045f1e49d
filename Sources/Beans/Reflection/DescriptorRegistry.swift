import CBeansRuntime

/// All bean descriptors of the process.
///
/// Descriptors are made outside of the lock, each by one thread; others wait for it. A thread that asks for what it is
/// itself making, be it through other threads, gets the descriptor as far as it is.
enum DescriptorRegistry {
  private enum Entry {
    case making(Making)
    case made(BeanDescriptor)
    case failed(EnvironmentError)
  }

  /// One descriptor whose initializer is running, on that thread.
  private final class Making: Sendable {
    let thread = UInt(beans_thread())
    let descriptor: BeanDescriptor
    var key: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    init(_ descriptor: BeanDescriptor) { self.descriptor = descriptor }
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    var subclasses: [ObjectIdentifier: [BeanDescriptor]] = [:]

    /// A class fails with its superclass, even where its own descriptor was asked for by the superclass's initializer.
    mutating func publish(_ descriptor: BeanDescriptor, _ failure: EnvironmentError?) {
      let type: AnyClass = descriptor.getBeanClass()
      guard let failure = failure ?? descriptor.getSuperBean().flatMap({ self.failure(of: $0) }) else {
        entries[ObjectIdentifier(type)] = .made(descriptor)
        if let superclass = descriptor.getSuperBean()?.getBeanClass() {
          subclasses[ObjectIdentifier(superclass), default: []].append(descriptor)
        }
        return
      }
      entries[ObjectIdentifier(type)] = .failed(failure)
      for subclass in subclasses.removeValue(forKey: ObjectIdentifier(type)) ?? [] { publish(subclass, failure) }
    }

    private func failure(of descriptor: BeanDescriptor) -> EnvironmentError? {
      if case .failed(let error)? = entries[ObjectIdentifier(descriptor.getBeanClass())] { error } else { nil }
    }
  }

  private static let state = Locked(State())

  static func descriptor(of type: AnyClass) throws -> BeanDescriptor {
    while true {
      switch state.withLock({ $0.entries[ObjectIdentifier(type)] }) {
      case .made(let descriptor): return descriptor
      case .failed(let error): throw error
      case .making(let making):
        if try !wait(for: making) { return making.descriptor }
      case nil:
        let superBean = try _getSuperclass(type).map(descriptor(of:))
        make(Making(BeanDescriptor(type, superBean: superBean)))
      }
    }
  }

  static func subclasses(of type: AnyClass) -> [BeanDescriptor] {
    state.withLock { $0.subclasses[ObjectIdentifier(type)] ?? [] }
  }

  /// Runs the initializer and publishes what came of it; returns at once where another thread was first.
  private static func make(_ making: Making) {
    let descriptor = making.descriptor
    let type: AnyClass = descriptor.getBeanClass()
    let isFirst = state.withLock { state in
      guard state.entries[ObjectIdentifier(type)] == nil else { return false }
      state.entries[ObjectIdentifier(type)] = .making(making)
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
    BuildQueue.end(making.key, nil)
  }

  /// Whether the descriptor has come to an end; not where it cannot before the caller goes on.
  private static func wait(for making: Making) throws -> Bool {
    if making.thread == UInt(beans_thread()) { return false }
    let type: AnyClass = making.descriptor.getBeanClass()
    do {
      try BuildQueue.wait(for: making.key, "descriptor of \(type)", in: "bean descriptors", origin: nil) {
        state.withLock { state in
          if case .making(let current)? = state.entries[ObjectIdentifier(type)], current === making {
            making.thread
          } else {
            nil
          }
        }
      }
      return true
    } catch let error as EnvironmentError where error.code == .cyclicDependency {
      return false
    }
  }
}
