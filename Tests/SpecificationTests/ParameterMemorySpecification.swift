import Beans
import Testing

/// A factory with parameters of every size: a tuple of them is filled in memory, so that each has to find its place.
@Suite("The parameters of one factory") struct ParameterMemorySpecification {
  @FreshEnvironment("shop") private var shop

  @Test("Parameters of all sizes and kinds reach one factory", arguments: [false, true])
  func kinds(isLoud: Bool) throws {
    let shop = shop
    try shop
      .define(instance: true)
      .define(instance: UInt8(8))
      .define(instance: 64)
      .define(instance: "text")
      .define(instance: Wide(first: 1, second: 2, third: "three"))
      .define(instance: Nothing())
      .define(Plain.self, factory: Plain.init)
      .define(Station.self, factory: { isLoud ? Loud() : Station() }) { $0.implements((any Speaker).self) }
      .define(Box.self, factory: Box.init) { $0.scope("prototype") }
      .define(
        All.self,
        factory: {
          (
            flag: Bool, plain: Plain, byte: UInt8, speaker: any Speaker, nothing: Nothing, number: Int, absent: Absent?,
            wide: Wide, present: Plain?, sayer: any Saying, boxes: [Box], text: String, both: any Saying & Speaker,
            provider: Provider<Plain>, environment: Environment, noNumber: Double?
          ) in
          All(
            plain: plain, present: present, speaker: speaker, sayer: sayer, both: both, boxes: boxes,
            isComplete: flag && byte == 8 && number == 64 && absent == nil && noNumber == nil && text == "text"
              && wide == Wide(first: 1, second: 2, third: "three") && environment === shop,
            provided: try provider.get())
        }
      )
      .startup()
    let all = try shop.getBean(All.self)
    let (plain, station) = (try shop.getBean(Plain.self), try shop.getBean(Station.self))
    #expect(all.isComplete)
    #expect(all.plain === plain && all.present === plain && all.provided === plain)
    #expect(all.speaker === station && all.sayer as AnyObject === station && all.both === station)
    #expect(all.speaker.word == (isLoud ? "HELLO" : "hello") && all.sayer.said == all.speaker.word)
    #expect(all.boxes.count == 1)
    try shop.shutdown()
  }

  @Test("An array of objects is one of its own: a change of it changes no other")
  func arrays() throws {
    let requests = try shop.childFactory("request", seed: Void.self) { try $0.define(Boxes.self, factory: Boxes.init) }
    try shop.define(Box.self, factory: Box.init) { $0.id("a") }.define(Box.self, factory: Box.init) { $0.id("b") }
    weak var extra: Box?
    try requests.withChild(()) { child in
      let boxes = try child.getBean(Boxes.self)
      do {
        let box = Box()
        extra = box
        boxes.all.append(box)
        #expect(boxes.all.map { $0 === box } == [false, false, true])
      }
      boxes.all.removeFirst()
      #expect(boxes.all.count == 2 && extra != nil)
      #expect(try child.getBean([Box].self).count == 2)
    }
    #expect(extra == nil)
    try shop.shutdown()
  }

  @Test("A seed of any size stands anywhere among the parameters of a product")
  func seeds() throws {
    struct Labelled: AssistedFactory {
      typealias Element = Label
      typealias Seed = Wide
    }
    let wide = Wide(first: 1, second: 2, third: "three")
    try shop
      .define(instance: true)
      .define(Plain.self, factory: Plain.init)
      .define(
        shop.bindFactory(Label.self).with(Labelled.self).to { (flag: Bool, seed: Assisted<Wide>, plain: Plain) in
          Label(isRight: flag && seed.get() == wide, plain: plain)
        }
      )
      .startup()
    let factory = try shop.getBean(Factory<Labelled>.self)
    let plain = try shop.getBean(Plain.self)
    for _ in 0..<2 {
      let label = try factory.build(wide)
      #expect(label.isRight && label.plain === plain)
    }
    try shop.shutdown()
  }
}

private struct Wide: Equatable, Sendable {
  let first: UInt8
  let second: Int
  let third: String
}

private struct Nothing: Sendable {}
private final class Absent: Sendable {}
private final class Plain: Sendable {}
private final class Box {}

private final class Boxes {
  var all: [Box]
  init(_ all: [Box]) { self.all = all }
}

private protocol Speaker: AnyObject, Sendable { var word: String { get } }
private protocol Saying: Sendable { var said: String { get } }

private class Station: Speaker, Saying, @unchecked Sendable {  // stores nothing
  var word: String { "hello" }
  var said: String { word }
}

private final class Loud: Station, @unchecked Sendable {  // stores nothing
  override var word: String { "HELLO" }
}

private struct Label {
  let isRight: Bool
  let plain: Plain
}

private final class All {
  let (plain, present, provided): (Plain, Plain?, Plain)
  let (speaker, sayer, both): (any Speaker, any Saying, any Saying & Speaker)
  let boxes: [Box]
  let isComplete: Bool

  init(
    plain: Plain, present: Plain?, speaker: any Speaker, sayer: any Saying, both: any Saying & Speaker, boxes: [Box],
    isComplete: Bool, provided: Plain
  ) {
    (self.plain, self.present, self.provided) = (plain, present, provided)
    (self.speaker, self.sayer, self.both) = (speaker, sayer, both)
    (self.boxes, self.isComplete) = (boxes, isComplete)
  }
}
