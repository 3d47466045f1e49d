import Beans

// Four layers of beans; each depends on one of every layer below. Many beans of each class, so dependencies are by id.

final class Layer0: Sendable {}

final class Layer1: Sendable {
  let below: Layer0

  init(_ below: Layer0) { self.below = below }
}

final class Layer2: Sendable {
  let below: Layer1
  let lowest: Layer0

  init(_ below: Layer1, _ lowest: Layer0) {
    self.below = below
    self.lowest = lowest
  }
}

final class Layer3: Sendable {
  let below: Layer2
  let low: Layer1
  let lowest: Layer0

  init(_ below: Layer2, _ low: Layer1, _ lowest: Layer0) {
    self.below = below
    self.low = low
    self.lowest = lowest
  }
}

/// A number of beans, a quarter in each layer: the dependencies are the same for the container and by hand.
struct Layers {
  /// The number of beans in each layer.
  let width: Int
  let ids: [[String]]

  init(count: Int) {
    width = count / 4
    ids = (0..<4).map { layer in (0..<count / 4).map { "layer-\(layer)-bean-\($0)" } }
  }

  /// The bean of that layer which the bean of this number depends on: not the one beside it.
  @inline(__always)
  func choice(_ number: Int, _ layer: Int) -> Int { (number &* 7 &+ layer &* 13 &+ 5) % width }

  func declare(in environment: Environment) throws {
    for number in 0..<width {
      try environment.define(environment.bean(Layer0.self, id: ids[0][number], factory: Layer0.init))
    }
    for number in 0..<width {
      try environment.define(
        environment.bean(Layer1.self, id: ids[1][number], factory: Layer1.init)
          .argument(0, ref: ids[0][choice(number, 0)]))
    }
    for number in 0..<width {
      try environment.define(
        environment.bean(Layer2.self, id: ids[2][number], factory: Layer2.init)
          .argument(0, ref: ids[1][choice(number, 1)])
          .argument(1, ref: ids[0][choice(number, 0)]))
    }
    for number in 0..<width {
      try environment.define(
        environment.bean(Layer3.self, id: ids[3][number], factory: Layer3.init)
          .argument(0, ref: ids[2][choice(number, 2)])
          .argument(1, ref: ids[1][choice(number, 1)])
          .argument(2, ref: ids[0][choice(number, 0)]))
    }
  }

  func build() -> BuiltLayers {
    var built = BuiltLayers()
    built.layer0.reserveCapacity(width)
    built.layer1.reserveCapacity(width)
    built.layer2.reserveCapacity(width)
    built.layer3.reserveCapacity(width)
    for _ in 0..<width { built.layer0.append(Layer0()) }
    for number in 0..<width { built.layer1.append(Layer1(built.layer0[choice(number, 0)])) }
    for number in 0..<width {
      built.layer2.append(Layer2(built.layer1[choice(number, 1)], built.layer0[choice(number, 0)]))
    }
    for number in 0..<width {
      built.layer3.append(
        Layer3(built.layer2[choice(number, 2)], built.layer1[choice(number, 1)], built.layer0[choice(number, 0)]))
    }
    return built
  }
}

/// Equal objects by hand.
struct BuiltLayers {
  var layer0: [Layer0] = []
  var layer1: [Layer1] = []
  var layer2: [Layer2] = []
  var layer3: [Layer3] = []
}
