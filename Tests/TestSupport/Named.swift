/// To be subclassed by other modules.
open class Named {
  package let name: String

  package init(name: String) { self.name = name }
}
