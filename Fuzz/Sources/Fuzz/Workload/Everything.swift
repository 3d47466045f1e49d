import Synchronization

// A class with a stored property of every kind, and the types of its properties.

protocol Shape { var sides: Int { get } }
protocol Living: AnyObject { var name: String { get } }

struct Point: Equatable, Shape {
  var x = 0.0
  var label = "point"
  var sides: Int { 0 }
}
enum Token: Equatable {
  case word(String)
  indirect case pair(Token, Token)
  case end
}
class Animal: Living {
  var name: String
  init(name: String = "animal") { self.name = name }
}
final class Dog: Animal, Shape { var sides: Int { 4 } }
final class Stone: Sendable {}
struct Unique: ~Copyable { var number = 1 }
struct Refusal: Error, Equatable { var text = "" }

@propertyWrapper struct Clamped { var wrappedValue: Int }

/// Counts those that live: after the last input none may.
final class Probe {
  nonisolated(unsafe) static var alive = 0  // used by one thread

  init() { Self.alive += 1 }
  deinit { Self.alive -= 1 }
}

class Root {
  private var secret = "root"
  var count = 1
  var animal = Animal()
}

class Generic<Element>: Root {
  var element: Element
  var elements: [Element] = []
  init(_ element: Element) { self.element = element }
}

final class Everything: Generic<String> {
  let constant = 5
  var integer = 1
  var byte: Int8 = 2
  var unsigned: UInt = 3
  var real = 1.5
  var single: Float = 2.5
  var flag = false
  var text = "text"
  var character: Character = "c"
  var bytes: (Int8, Int64) = (1, 2)
  var void: Void = ()
  var point = Point()
  var color = FuzzColor.red
  var token = Token.end
  var list = [1, 2]
  var table = ["a": 1]
  var set: Set<String> = []
  var dog = Dog()
  var object: AnyObject = Stone()
  var anything: Any = 1
  var shape: any Shape = Point()
  var living: any Living = Dog()
  var livingShape: any Living & Shape = Dog()
  var dogShape: any Animal & Shape = Dog()
  var error: any Error = Refusal()
  var type: Any.Type = Int.self
  var shapeType: any Shape.Type = Point.self
  var animalType: Animal.Type = Animal.self
  var stoneType: Stone.Type = Stone.self
  var afterStoneType: Int8 = 1
  var numbers: any Collection<Int> = [1]
  var vector = SIMD4<Float>(repeating: 1)
  var wide: Int128 = 1
  var inline: InlineArray<3, Int8> = [1, 2, 3]
  var key: AnyHashable = 1
  var result: Result<Int, any Error> = .success(1)
  var nested: [String: [Int?]] = [:]
  var path: KeyPath<Point, Double> = \.x
  var maybeInteger: Int?
  var maybeText: String?
  var maybeColor: FuzzColor?
  var maybePoint: Point?
  var maybeAnimal: Animal?
  var maybeShape: (any Shape)?
  var maybeAnything: Any?
  var maybeObject: AnyObject?
  var forced: Stone!
  var twice: Int??
  var probe: Probe?
  weak var weakAnimal: Animal?
  weak var weakLiving: (any Living)?
  weak var weakObject: AnyObject?
  lazy var late = "late"
  lazy var lateMaybe: Int? = 7
  @Clamped var clamped = 1
  private var secret = "everything"
  var valueType: Int.Type = Int.self
  var closure: (Int) -> Int = { $0 }
  var maybeClosure: (() -> Void)?
  unowned var owner: Animal
  unowned(unsafe) var unsafeOwner: Animal
  let mutex = Mutex(1)
  let unique = Unique()
  var last: UInt8 = 0xAB

  init(owner: Animal) {
    self.owner = owner
    unsafeOwner = owner
    super.init("element")
  }
}
