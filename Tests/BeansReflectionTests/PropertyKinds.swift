import Synchronization

@testable import BeansReflection

/// A class with a stored property of every kind, `Everything`, and the types of its properties.
enum Kinds {
  protocol Shape { var sides: Int { get } }
  protocol Living: AnyObject { var name: String { get } }

  struct Point: Equatable, Shape {
    var x = 0.0
    var label = "point"
    var sides: Int { 0 }
  }
  enum Color: Equatable { case red, green }
  enum Token: Equatable {
    case word(String)
    indirect case pair(Token, Token)
    case end
  }
  class Animal: Living, @unchecked Sendable {
    var name: String
    required init(name: String = "animal") { self.name = name }
  }
  class Dog: Animal, Shape, @unchecked Sendable { var sides: Int { 4 } }
  final class Stone: Sendable {}
  struct Unique: ~Copyable { var number = 1 }

  /// Reports its deallocation.
  final class Probe: Sendable {
    private let gone: @Sendable () -> Void
    init(gone: @escaping @Sendable () -> Void) { self.gone = gone }
    deinit { gone() }
  }

  @propertyWrapper struct Clamped { var wrappedValue: Int }

  class Root: @unchecked Sendable {
    private var secret = "root"
    fileprivate(set) var count = 1
    var animal = Animal()
    final var shadow: Int { 0 }
    init() {}
  }

  class Generic<Element>: Root, @unchecked Sendable {
    var element: Element
    var elements: [Element] = []
    init(_ element: Element) {
      self.element = element
      super.init()
    }
  }

  final class Everything: Generic<String>, @unchecked Sendable {
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
    var color = Color.red
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
    var error: any Error = CancellationError()
    var type: Any.Type = Int.self
    var shapeType: any Shape.Type = Point.self
    var animalType: Animal.Type = Animal.self
    var stoneType: Stone.Type = Stone.self
    var maybeStoneType: Stone.Type?
    var afterStoneType: Int8 = 1
    var numbers: any Collection<Int> = [1]
    var vector = SIMD4<Float>(repeating: 1)
    var wide: Int128 = 1
    var inline: InlineArray<3, Int8> = [1, 2, 3]
    var opaque: some Shape = Point()
    var key: AnyHashable = 1
    var result: Result<Int, any Error> = .success(1)
    var nested: [String: [Int?]] = [:]
    var path: KeyPath<Point, Double> = \.x
    var maybeInteger: Int?
    var maybeText: String?
    var maybeColor: Color?
    var maybePoint: Point?
    var maybeAnimal: Animal?
    var maybeShape: (any Shape)?
    var maybeAnything: Any?
    var maybeObject: AnyObject?
    var forced: Stone!
    var twice: Int??
    weak var weakAnimal: Animal?
    weak var weakLiving: (any Living)?
    weak var weakObject: AnyObject?
    lazy var late = "late"
    lazy var lateMaybe: Int? = 7
    @Clamped var clamped = 1
    private var secret = "everything"

    var valueType: Int.Type = Int.self
    var maybeValueType: Int.Type?
    var closure: (Int) -> Int = { $0 }
    var maybeClosure: (() -> Void)?
    var pairWithClosure: (Int, () -> Void) = (1, {})
    unowned var owner: Animal
    unowned(unsafe) var unsafeOwner: Animal
    let mutex = Mutex(1)
    let atomic = Atomic(1)
    let unique = Unique()
    var maybeUnique: Unique?
    var last: UInt8 = 0xAB

    init(owner: Animal) {
      self.owner = owner
      unsafeOwner = owner
      super.init("element")
    }
  }
}
