/// Whether two values are the same object, the same type, equal, or at least look alike.
func areSame(_ left: Any?, _ right: Any?) -> Bool {
  guard let left, let right else { return left == nil && right == nil }
  if let left = left as? Any.Type, let right = right as? Any.Type { return left == right }
  if type(of: left) is AnyClass, type(of: right) is AnyClass { return left as AnyObject === right as AnyObject }
  if let left = left as? any Equatable { return isEqual(left, right) }
  return String(reflecting: left) == String(reflecting: right)
}

private func isEqual<Value: Equatable>(_ left: Value, _ right: Any) -> Bool { left == right as? Value }
