/// A class that other modules subclass.
open class Named {
  package let name: String

  package init(name: String) { self.name = name }
}
