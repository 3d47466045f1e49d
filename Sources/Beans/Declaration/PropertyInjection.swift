/// One property of one declaration: which, and where its value comes from.
struct PropertyInjection {
  enum Name: Hashable, CustomStringConvertible {
    case path(AnyKeyPath)
    case text(String)

    var description: String {
      switch self {
      case .path(let path): "\(path)"
      case .text(let name): "property '\(name)'"
      }
    }
  }

  let name: Name
  let value: BeanValue
  /// How it is set; nil for a name, which startup looks up in the bean's class.
  let access: PropertyAccess?

  init(_ path: AnyKeyPath, _ value: BeanValue, _ access: PropertyAccess) {
    self.name = .path(path)
    self.value = value
    self.access = access
  }

  init(_ name: String, _ value: BeanValue, _ access: PropertyAccess? = nil) {
    self.name = .text(name)
    self.value = value
    self.access = access
  }
}

extension [PropertyInjection] {
  /// The last word on a property counts, and takes its place in the order.
  mutating func set(_ property: PropertyInjection) {
    removeAll { $0.name == property.name }
    append(property)
  }
}
