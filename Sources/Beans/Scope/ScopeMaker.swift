import Synchronization

/// Makes the scope object of each child of one factory.
///
/// Whether that is hosted is asked of the runtime for the first one; the next ones are nearly always of the same class.
final class ScopeMaker: Sendable {
  private let make: @Sendable () -> any BeanScope
  /// How objects of that class become a `HostedScope`. Retained; 0 until there was one.
  private let hosted = Atomic<UInt>(0)

  init(_ make: @escaping @Sendable () -> any BeanScope) { self.make = make }

  deinit { form(hosted.load(ordering: .relaxed))?.release() }

  func callAsFunction() -> ScopeObject {
    let scope = make()
    if let form = form(hosted.load(ordering: .acquiring)) {
      let value = form._withUnsafeGuaranteedRef { form -> (any HostedScope)? in
        form.fits(Unmanaged.passUnretained(scope as AnyObject).toOpaque())
          ? form.value(of: scope, as: (any HostedScope).self) : nil
      }
      if let value { return .hosted(value) }
    }
    let made = ScopeObject(scope)
    if case .hosted = made { remember(type(of: scope)) }
    return made
  }

  private func remember(_ type: any BeanScope.Type) {
    guard let form = ExistentialForm((any HostedScope).self, for: ObjectIdentifier(type)) else { return }
    let retained = Unmanaged.passRetained(form)
    let (isFirst, _) = hosted.compareExchange(
      expected: 0, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
    if !isFirst { retained.release() }
  }

  private func form(_ word: UInt) -> Unmanaged<ExistentialForm>? {
    UnsafeRawPointer(bitPattern: word).map { .fromOpaque($0) }
  }
}
