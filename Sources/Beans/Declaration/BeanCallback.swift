/// A closure a user attached to a declaration, with the type it expects.
struct BeanCallback {
  let owner: Any.Type
  private let body: (AnyObject) throws -> Void

  init<Instance>(_ body: @escaping (Instance) throws -> Void) {
    owner = Instance.self
    self.body = { object in
      guard let instance = Box.read(object, as: Instance.self) else {
        throw EnvironmentError(.typeMismatch, "\(type(of: Box.open(object))) is not a \(Instance.self)")
      }
      try body(instance)
    }
  }

  /// `object` is an `owner`: startup has checked it.
  func callAsFunction(_ object: AnyObject) throws { try body(object) }
}
