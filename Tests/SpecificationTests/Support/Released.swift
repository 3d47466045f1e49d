import Beans

extension Environment {
  /// Whether everything here has been released: then, and only then, `whenFinished` calls at once.
  var isReleased: Bool {
    let called = Counter()
    whenFinished { called.increment() }
    return called.value == 1
  }
}
