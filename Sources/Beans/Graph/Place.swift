/// What a dependency is for, as faults name it. Put into words only when there is one.
enum Place: CustomStringConvertible {
  case parameter(Int)
  case requirement
  case property(PropertyInjection.Name)
  case other(String)

  var description: String {
    switch self {
    case .parameter(let index): "parameter \(index)"
    case .requirement: "requires"
    case .property(let name): "\(name)"
    case .other(let text): text
    }
  }
}
