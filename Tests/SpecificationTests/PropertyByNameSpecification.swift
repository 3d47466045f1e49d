import Beans
import BeansInject
import Testing

@Suite("Property injection by name") struct PropertyByNameSpecification {
  @FreshEnvironment private var environment

  // MARK: kinds

  @Test("A value, a reference, an injection and an embedded bean are kinds of properties")
  func kinds() throws {
    try environment.define(environment.bean(Engine.self, id: "strong").property("power", value: 300))
    try environment.define(
      environment.bean(Car.self)
        .property("name", value: "roadster")
        .property("engine", ref: "strong")
        .property("spare", inject: InjectBean(id: "strong"))
        .property("radio", bean: environment.bean(Radio.self, id: "radio").property("station", value: "jazz")))
    let car = try environment.getBean(Car.self)
    #expect(car.name == "roadster")
    #expect(car.engine?.power == 300)
    #expect(car.spare === car.engine)
    #expect(try car.radio === environment.getBean(Radio.self, byId: "radio"))
    #expect(car.radio?.station == "jazz")
  }

  @Test("Private and inherited stored properties are reached, and protocol types, and subclasses' instances")
  func reach() throws {
    try environment.define(environment.bean(TurboEngine.self, id: "turbo"))
    try environment.define(
      environment.bean(SportsCar.self)
        .property("name", value: "inherited")
        .property("secret", value: 7)
        .property("engine", ref: "turbo")
        .property("sound", ref: "turbo"))
    let car = try environment.getBean(SportsCar.self)
    #expect(car.name == "inherited")
    #expect(car.revealed == 7)
    #expect(car.engine is TurboEngine)
    #expect(car.sound?.volume == 11)
  }

  @Test("Embedded beans may hold embedded beans, at any depth, and are found by type and id")
  func nested() throws {
    let journal = Journal()
    func link(_ depth: Int) -> BeanDeclaration {
      let declaration = environment.bean(
        Link.self, id: "link \(depth)",
        factory: { journal.noting("\(depth)", Link()) })
      return depth == 0 ? declaration : declaration.property("next", bean: link(depth - 1))
    }
    try environment.define(link(20))
    try environment.startup()
    #expect(journal.entries == (0...20).map { "\($0)" })
    let third = try environment.getBean(Link.self, byId: "link 3")
    #expect(try third.next === environment.getBean(Link.self, byId: "link 2"))
    #expect(try environment.getBeansByType(Link.self).count == 21)
  }

  @Test("Lists fit arrays and sets, maps dictionaries, element by element, beans among them")
  func collections() throws {
    try environment.define(environment.bean(Engine.self, id: "one").property("power", value: 1))
    try environment.define(
      environment.bean(Garage.self)
        .property("names", .list([.value("a"), .value("b")]))
        .property("numbers", .list([.value(1), .value(2), .value(1)]))
        .property("engines", .list([.reference("one"), .bean(environment.bean(Engine.self, id: "two"))]))
        .property("places", .map([(.value("first"), .value(1)), (.value("second"), .value(2))]))
        .property("byName", .map([(.value("one"), .reference("one"))]))
        .property("nested", .list([.list([.value(1)]), .list([])])))
    let garage = try environment.getBean(Garage.self)
    #expect(garage.names == ["a", "b"])
    #expect(garage.numbers == [1, 2])
    #expect(garage.engines.map(\.power) == [1, 0])
    #expect(garage.places == ["first": 1, "second": 2])
    #expect(try garage.byName?["one"] === environment.getBean(Engine.self, byId: "one"))
    #expect(garage.nested == [[1], []])
  }

  @Test("null sets an optional to nil")
  func null() throws {
    try environment.define(
      environment.bean(Radio.self, factory: { Radio(station: "noise") }).property("station", .null))
    #expect(try environment.getBean(Radio.self).station == nil)
  }

  @Test("A factory's parameter accepts each of these kinds, too")
  func arguments() throws {
    try environment.define(
      environment.bean(Int.self, factory: { (numbers: [Int], engine: Engine) in numbers.reduce(engine.power, +) })
        .argument(0, .list([.value(1), .value(2)]))
        .argument(1, .bean(environment.bean(Engine.self).property("power", value: 10))))
    #expect(try environment.getBean(Int.self) == 13)
  }

  @Test("Every prototype and every child's bean is set; a later declaration of a property wins")
  func perInstance() throws {
    try environment.define(
      environment.bean(Engine.self).scope("prototype").property("power", value: 1).property("power", value: 2))
    let requests = try environment.childFactory("request", seed: Void.self) { child in
      try child.define(child.bean(Radio.self).property("station", value: "request"))
    }
    #expect(try environment.getBean(Engine.self).power == 2)
    #expect(try requests.withChild(()) { try $0.getBean(Radio.self).station } == "request")
  }

  @Test("Values and texts are converted to the property's type, placeholders replaced")
  func conversion() throws {
    try environment.define(environment.settings().setValue(key: "power", value: 250).setValue(key: "n", value: "2"))
    try environment.define(
      environment.bean(Engine.self).property("power", resolve: "${power}").property("torque", value: "1.5"))
    try environment.define(
      environment.bean(Car.self).property("name", resolve: "car ${n}").property("wheels", .text("${wheels=3}")))
    try environment.define(
      environment.bean(Garage.self)
        .property("names", .list([.text("${n}"), .value(7)]))
        .property("engines", .list([.inject(InjectBean())]))
        .property("places", .map([(.text("a${n}"), .text("${n}")), (.value(5), .value("6"))])))
    let engine = try environment.getBean(Engine.self)
    #expect(engine.power == 250 && engine.torque == 1.5)
    let car = try environment.getBean(Car.self)
    #expect(car.name == "car 2" && car.wheels == 3)
    let garage = try environment.getBean(Garage.self)
    #expect(garage.names == ["2", "7"])
    #expect(garage.places == ["a2": 2, "5": 6])
  }

  @Test("Values that do not convert, unresolved placeholders and converted keys that repeat are faults, all at once")
  func conversionFaults() throws {
    try environment.define(
      environment.bean(Engine.self).property("power", value: "much").property("torque", resolve: "${missing}"))
    try environment.define(
      environment.bean(Garage.self)
        .property("numbers", .list([.value(1), .value("x")]))
        .property("places", .map([(.value(5), .value(1)), (.value("5"), .value(1))])))
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.conversionFailed, .unresolvedPlaceholder, .conversionFailed, .invalidDeclaration])
    #expect(faults[2].message.contains("element 1"))
  }

  @Test("Values of a bean whose scope opens further in are resolved by the declaring environment")
  func scopeFurtherIn() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.settings().setValue(key: "n", value: "2"))
    try parent.define(
      parent.bean(Garage.self).scope("request")
        .property("names", .list([.text("${n}"), .value(7)]))
        .property("places", .map([(.text("a${n}"), .text("${n}"))])))
    try parent.define(parent.bean(Engine.self).scope("request").property("power", value: "3"))
    try parent.startup()
    let child = try Environment(name: "child", parent: parent)
    let requests = try child.childFactory("request", seed: Void.self)
    try requests.withChild(()) { request in
      let garage = try request.getBean(Garage.self)
      #expect(garage.names == ["2", "7"])
      #expect(garage.places == ["a2": 2])
      #expect(try request.getBean(Engine.self).power == 3)
    }
  }

  @Test("A property set by name is stored without its observers, which run for the same property set by key path")
  func observers() throws {
    try environment.define(environment.bean(Observed.self, id: "by name").property("value", value: 7))
    try environment.define(environment.bean(Observed.self, id: "by path").property(\.value, value: 7))
    let byName = try environment.getBean(Observed.self, byId: "by name")
    #expect(byName.value == 7)
    #expect(byName.seen == [])
    let byPath = try environment.getBean(Observed.self, byId: "by path")
    #expect(byPath.value == 7)
    #expect(byPath.seen == ["will set 7", "did set 0"])
  }

  // MARK: templates

  @Test("A template's properties are inherited and overridden by name")
  func template() throws {
    try environment.define(environment.template("base").property("name", value: "base").property("wheels", value: 3))
    try environment.define(environment.bean(Car.self, parent: "base").property("name", value: "own"))
    let car = try environment.getBean(Car.self)
    #expect(car.name == "own")
    #expect(car.wheels == 3)
  }

  @Test("A declaration may have its class from its template, which may have its own from a name")
  func classFromTemplate() throws {
    try environment.define(
      environment.bean(className: "SpecificationTests.NamedByText", id: "template", abstract: true)
        .property("text", value: "templated"))
    try environment.define(environment.bean(parent: "template", id: "bean"))
    #expect(try environment.getBean(NamedByText.self, byId: "bean").text == "templated")
  }

  @Test("A class is found by its bare name, too")
  func bareName() throws {
    try environment.define(environment.bean(className: "NamedByText").property("text", value: "bare"))
    #expect(try environment.getBean(NamedByText.self).text == "bare")
  }

  // MARK: faults

  @Test("An unknown class is reported at once, with its origin")
  func unknownClass() throws {
    let line = #line + 1
    try requireFault(.unknownClass, line: line) { try environment.bean(className: "Nowhere.Klass", id: "x") }
  }

  @Test("An unknown property is a fault of startup that suggests the near miss")
  func unknownProperty() throws {
    let line = #line + 1
    try environment.define(environment.bean(Car.self, id: "car").property("nmae", value: ""))
    try requireFault(.unknownProperty, message: "'name'", through: "'car'", line: line) { try environment.startup() }
  }

  @Test("All faults come at once")
  func allAtOnce() throws {
    try environment.define(
      environment.bean(Car.self)
        .property("nothing", value: 1)
        .property("engine", ref: "missing")
        .property("radio", value: Engine())
        .property("name")
        .property("wheels", value: 1, ref: "two kinds"))
    try environment.define(environment.bean(Engine.self).property("constant", value: 1))
    let codes = try startupFaults(of: environment).map(\.code)
    #expect(
      codes.sorted(by: { $0.description < $1.description }) == [
        .invalidDeclaration, .invalidDeclaration, .invalidDeclaration, .noConversion, .unknownBean, .unknownProperty,
      ])
  }

  @Test("A property with no kind of value or two is an invalid declaration that names it")
  func kindsOfValue() throws {
    try environment.define(environment.bean(Car.self).property("name"))
    #expect(try requireFault(.invalidDeclaration) { try environment.startup() }.message.contains("'name'"))
  }

  @Test("A bean of another type is a type mismatch")
  func wrongBean() throws {
    try environment.define(environment.bean(Radio.self, id: "radio"))
    try environment.define(environment.bean(Car.self).property("engine", ref: "radio"))
    try requireFault(.typeMismatch) { try environment.startup() }
  }

  @Test("A list or map for no collection, null for no optional, and repeated keys are faults")
  func wrongShapes() throws {
    try environment.define(environment.bean(Car.self).property("wheels", .list([.value(1)])))
    try environment.define(environment.bean(Engine.self).property("power", .null))
    try environment.define(
      environment.bean(Garage.self)
        .property("names", .map([(.value("a"), .value("b"))]))
        .property("places", .map([(.value("a"), .value(1)), (.value("a"), .value(2))])))
    let faults = try startupFaults(of: environment)
    #expect(
      faults.map(\.code).sorted(by: { $0.description < $1.description }) == [
        .invalidDeclaration, .typeMismatch, .typeMismatch, .typeMismatch,
      ])
  }

  @Test("An element that does not fit is named by its place")
  func wrongElement() throws {
    try environment.define(
      environment.bean(Garage.self).property(
        "engines", .list([.bean(environment.bean(Engine.self)), .reference("no")])))
    try requireFault(.unknownBean, message: "'engines'", "element 1") { try environment.startup() }
  }

  @Test("A value bean has no properties with names")
  func valueBean() throws {
    try environment.define(environment.bean(3).property("magnitude", value: 4))
    try requireFault(.unknownProperty) { try environment.startup() }
  }

  @Test("A cycle through names is found at startup")
  func cycle() throws {
    try environment.define(environment.bean(Link.self, id: "a").property("next", ref: "b"))
    try environment.define(environment.bean(Link.self, id: "b").property("next", .inject(InjectBean(id: "a"))))
    try requireFault(.cyclicDependency) { try environment.startup() }
  }

  @Test("A declaration from elsewhere has the place where it is written")
  func origin() throws {
    try environment.define(
      environment.bean(Car.self).property("nothing", value: 1)
        .declared(at: EnvironmentError.Origin(file: "cars.xml", line: 12, column: 3)))
    let fault = try requireFault(.unknownProperty) { try environment.startup() }
    #expect(fault.origin?.description == "cars.xml:12:3")
  }

  @Test("A value from elsewhere has its own place, and so has each element; the rest has the place of the bean")
  func originsOfValues() throws {
    func at(_ line: Int, _ value: BeanValue) -> BeanValue {
      .declared(value, at: EnvironmentError.Origin(file: "cars.xml", line: line, column: 5))
    }
    try environment.define(
      environment.bean(Car.self)
        .property("nothing", at(2, .value(1)))
        .property("wheels", at(3, .text("many")))
        .property("engine", at(4, .reference("missing")))
        .property(\.spare, at(5, .list([])))
        .property("name", value: Engine())
        .declared(at: EnvironmentError.Origin(file: "cars.xml", line: 1)))
    try environment.define(
      environment.bean(Garage.self)
        .property("numbers", at(10, .list([.value(1), at(11, .value("x")), .value("y")])))
        .property("places", .map([(.value("a"), at(12, .null))])))
    try environment.define(
      environment.bean(Int.self, factory: { (name: String) in name.count }).argument(0, at(20, .null)).argument(
        1, at(21, .value(1))))
    let places = try startupFaults(of: environment).map { $0.origin?.description ?? "nowhere" }
    #expect(
      Set(places) == [
        "cars.xml:2:5", "cars.xml:3:5", "cars.xml:4:5", "cars.xml:5:5", "cars.xml:1", "cars.xml:11:5", "cars.xml:10:5",
        "cars.xml:12:5", "cars.xml:20:5", "cars.xml:21:5",
      ], "\(places)")
    #expect(places.count == 10)
  }

  @Test("A value from elsewhere equals the one without its place")
  func valuesFromElsewhere() throws {
    let origin = EnvironmentError.Origin(file: "cars.xml", line: 1)
    let engine = environment.bean(Engine.self, id: "in place").property("power", .declared(.text("7"), at: origin))
    try environment.define(
      environment.bean(Garage.self)
        .property("engines", .declared(.list([.declared(.bean(engine), at: origin)]), at: origin))
        .property("byName", .map([(.declared(.value("a"), at: origin), .declared(.reference("in place"), at: origin))]))
    )
    let garage = try environment.getBean(Garage.self)
    #expect(garage.engines.map(\.power) == [7])
    #expect(garage.byName?["a"] === garage.engines.first)
  }
}

private protocol Sound { var volume: Int { get } }

private class Engine: Initializable {
  var power = 0
  var torque = 0.0
  let constant = 0
  required init() {}
}

private final class TurboEngine: Engine, Sound {
  var volume: Int { 11 }
}

private final class Radio: Initializable {
  var station: String?
  init() {}
  init(station: String) { self.station = station }
}

private class Car: Initializable {
  var name = ""
  var wheels = 4
  var engine: Engine?
  var spare: Engine?
  var radio: Radio?
  required init() {}
}

private final class SportsCar: Car {
  private var secret = 0
  var sound: (any Sound)?
  var revealed: Int { secret }
}

private final class Garage: Initializable {
  var names: [String] = []
  var numbers: Set<Int> = []
  var engines: [Engine] = []
  var places: [String: Int] = [:]
  var byName: [String: Engine]?
  var nested: [[Int]] = []
  init() {}
}

private final class Observed: Initializable {
  var seen: [String] = []
  var value = 0 {
    willSet { seen.append("will set \(newValue)") }
    didSet { seen.append("did set \(oldValue)") }
  }
  init() {}
}

private final class Link: Initializable {
  var next: Link?
  init() {}
}

final class NamedByText: Initializable {
  var text = ""
  init() {}
}
