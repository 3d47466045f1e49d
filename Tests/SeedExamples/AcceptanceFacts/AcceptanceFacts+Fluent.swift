import Beans
import BeansInject
import BeansXML
import Foundation
import Testing

private typealias Record = Acceptance.Data
private typealias FooBean = Acceptance.FooBean
private typealias BarBean = Acceptance.BarBean

extension AcceptanceFacts {
  private func parent() throws -> Environment {
    let parent = try Environment(name: "parent")
    try parent.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["SCREEN_WIDTH": "320"]))
    return
      try parent
      .define(parent.settings().setValue(key: "key", value: "key_value"))
      .define(
        parent.bean(Record.self, id: "b0")
          .property("string", value: "b0")
          .property("int", value: 1)
          .property("float", value: Float(-1.1))
          .property("double", value: -2.2)
      )
      .define(
        parent.bean(FooBean.self, id: "foo")
          .property("name", resolve: "${andi=Andreas?}")
          .property("age", resolve: "${SCREEN_HEIGHT=51}"))
  }

  private func child(of parent: Environment) throws -> Environment {
    let child = try Environment(name: "child", parent: parent)
    return
      try child
      .define(
        child.bean(Record.self, id: "b1")
          .requires(id: "b0")
          .property("foo", inject: InjectBean(id: "foo"))
          .property("string", value: "b1")
          .property("int", value: 1)
          .property("int8", value: Int8(1))
      )
      .define(
        child.bean(Record.self, id: "lazy", lazy: true)
          .property("bar", bean: child.bean(BarBean.self).property("name", value: "name").property("age", value: 0))
          .property("string", value: "lazy")
      )
      // The original gives `child.scope("prototype")`: a scope is named here.
      .define(child.bean(Record.self, id: "prototype").scope("prototype"))
  }

  private func withChild(_ body: (Environment) throws -> Void) throws {
    let parent = try parent()
    try body(child(of: parent))
    try parent.shutdown()
  }

  @Test("9: sources of the process's variables and of a property list are added, and a value is set")
  func sources() throws {
    let parent = try parent()
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).plist")
    try PropertyListSerialization.data(fromPropertyList: ["name": "list"], format: .binary, options: 0).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try parent.configurationManager.addSource(PlistConfigurationSource(path: file.path))
    #expect(try parent.getConfigurationValue(String.self, key: "key") == "key_value")
    #expect(try parent.getConfigurationValue(Int.self, key: "SCREEN_WIDTH") == 320)
    #expect(try parent.getConfigurationValue(String.self, key: "name") == "list")
  }

  @Test("10: values and placeholders reach the parent's beans, a default text becomes an integer")
  func parentBeans() throws {
    let parent = try parent()
    let b0 = try parent.getBean(Record.self)
    #expect(b0.string == "b0" && b0.int == 1 && b0.float == -1.1 && b0.double == -2.2)
    let foo = try parent.getBean(FooBean.self)
    #expect(foo.name == "Andreas?" && foo.age == 51)
  }

  @Test("11: the child's bean depends on the parent's, with an explicit injection and a small integer")
  func explicitInjection() throws {
    try withChild { child in
      let b1 = try child.getBean(Record.self, byId: "b1")
      #expect(try b1.string == "b1" && b1.int8 == 1 && b1.foo === child.getBean(FooBean.self))
    }
  }

  @Test("12: a lazy bean has an embedded one")
  func lazyEmbedded() throws {
    try withChild { child in
      let lazy = try child.getBean(Record.self, byId: "lazy")
      #expect(lazy.string == "lazy" && lazy.bar?.name == "name")
    }
  }

  @Test("13: two lookups of a prototype return different objects")
  func prototypes() throws {
    try withChild { child in
      let prototype = try child.getBean(Record.self, byId: "prototype")
      #expect(try child.getBean(Record.self, byId: "prototype") !== prototype)
    }
  }

  @Test("14: the embedded bean is found by its type, as any bean")
  func embedded() throws {
    try withChild { child in
      let bar = try child.getBean(BarBean.self)
      #expect(bar.age == 0)
      #expect(try child.getBean(Record.self, byId: "lazy").bar === bar)
    }
  }

  @Test("15: the child finds the parent's bean by its id")
  func inherited() throws {
    try withChild { child in
      let parent = try #require(child.parent)
      let foo = try child.getBean(FooBean.self, byId: "foo")
      #expect(try parent.getBean(FooBean.self) === foo)
    }
  }

  @Test("16: a thousand parents and children are created and started")
  func manyTimes() throws {
    for _ in 0..<1000 {
      let parent = try parent()
      let child = try child(of: parent)
      try parent.startup()
      try child.startup()
      try parent.shutdown()
      #expect(child.isFinished)
    }
  }
}
