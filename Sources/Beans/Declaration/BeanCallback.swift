/// A closure a user attached to a declaration, with the type it expects.
@usableFromInline
struct BeanCallback {
  let owner: Any.Type
  private let body: (AnyObject) throws -> Void

  @usableFromInline
  init(_ owner: Any.Type, _ body: @escaping (AnyObject) throws -> Void) {
    self.owner = owner
    self.body = body
  }

  /// Inlined into the module that declares the bean, so that it is compiled for the concrete type.
  @inlinable @inline(__always)
  init<Instance>(_ body: @escaping (Instance) throws -> Void) {
    self.init(Instance.self) { object in
      // A class's bean stands in its slot without a box.
      if Instance.self is AnyObject.Type {
        try body(unsafeBitCast(object, to: Instance.self))
      } else {
        try body(BeanCallback.read(object))
      }
    }
  }

  @usableFromInline
  static func read<Instance>(_ object: AnyObject) throws -> Instance {
    if let instance = Box.read(object, as: Instance.self) { return instance }
    throw EnvironmentError(.typeMismatch, "\(type(of: Box.open(object))) is not a \(Instance.self)")
  }

  /// `object` is an `owner`: startup has checked it.
  func callAsFunction(_ object: AnyObject) throws { try body(object) }
}
