import Beans
import BeansXML
import Foundation

// A request like that of R0 to R7, whose root has an `init()` and gets its beans by its properties.

final class P0: Initializable {
  var r1: R1?
  var r2: R2?
  var r3: R3?
}

extension ContainerApplication {
  static func declarePropertyRequestInSwift(in child: Environment) throws {
    try declareAllButRoot(in: child)
    let root = child.bean(P0.self)
    for id in ["r1", "r2", "r3"] { root.property(id, .reference(id)) }
    try child.define(root)
  }

  static func declarePropertyRequestByKeyPath(in child: Environment) throws {
    try declareAllButRoot(in: child)
    try child.define(
      child.bean(P0.self).property(\.r1, .byType).property(\.r2, .byType)
        .property(\.r3, .byType))
  }

  static func declarePropertyRequestInXML(in child: Environment) throws {
    try declareAllButRoot(in: child)
    let document = """
      <beans>
        <bean class="P0">
          <property name="r1" ref="r1"/>
          <property name="r2" ref="r2"/>
          <property name="r3" ref="r3"/>
        </bean>
      </beans>
      """
    try child.loadXML(Data(document.utf8))
  }

  private static func declareAllButRoot(in child: Environment) throws {
    try child.define(child.bean(R1.self, id: "r1", factory: R1.init))
    try child.define(child.bean(R2.self, id: "r2", factory: R2.init))
    try child.define(child.bean(R3.self, id: "r3", factory: R3.init))
    try child.define(child.bean(R4.self, factory: R4.init))
    try child.define(child.bean(R5.self, factory: R5.init))
    try child.define(child.bean(R6.self, factory: R6.init))
    try child.define(child.bean(R7.self, factory: R7.init))
  }
}
