import Beans

// The classes that the documents name.

final class Leaf: Initializable {
  var text = ""
  var number = 0
  var small: Int8 = 0
  var real = 0.0
  var flag = false
  var maybe: String?
  var duration = Duration.zero
  var color = FuzzColor.red
}

final class Branch: Initializable {
  var leaf: Leaf?
  var branch: Branch?
  var leaves: [Leaf] = []
  var byName: [String: Leaf] = [:]
  var names: [String] = []
  var numbers: Set<Int> = []
  var ages: [String: Int] = [:]
}

/// Has no `init()`: a template brings the factory.
final class Crate {
  let number: Int
  let leaf: Leaf

  init(number: Int, leaf: Leaf) {
    self.number = number
    self.leaf = leaf
  }
}

final class LeafFactory: Initializable, FactoryBean {
  var text = "made"

  func create() throws -> Leaf {
    let leaf = Leaf()
    leaf.text = text
    return leaf
  }
}

enum FuzzColor: String, CaseIterable { case red, green, blue }
