import BeansErrors
import Testing

@testable import BeansReflection

/// The runtime of these tests has the known form; the path for other runtimes works as well.
@Suite struct RuntimeLayoutTests {
  @Test func theRuntimeHasTheKnownForm() {
    #expect(RuntimeLayout.hasConformances)
    #expect(RuntimeLayout.hasFieldRecords)
    #expect(RuntimeLayout.hasCaseRecords)
    #expect(RuntimeLayout.hasDescriptors)
    #expect(RuntimeLayout.hasValueLayout)
  }

  @Test func underscoredFieldsAreRecognized() {
    #expect(StoredField.hasUnderscored(in: Underscored.self))
    #expect(StoredField.hasUnderscored(in: GenericallyUnderscored<Int>.self))
    #expect(!StoredField.hasUnderscored(in: Inheriting.self))
    #expect(!StoredField.hasUnderscored(in: Empty.self))
    #expect(!StoredField.hasUnderscored(in: GenericallyUnderscored<Int>.Inner.self))
  }

  @Test func classesAreFoundByTheirFullPath() throws {
    #expect(try ClassName.findByFullPath("BeansReflectionTests.NamedForTests") == NamedForTests.self)
    #expect(try ClassName.findByFullPath("Beans.BeanDescriptor") == BeanDescriptor.self)
    #expect(try ClassName.findByFullPath("BeansReflectionTests.NamedByPath.Inner") == NamedByPath.Inner.self)
    for name in ["", ".", "NamedForTests", "Swift.String", "A.\0", "Swift.Array<Swift.Int>", "Beans..", "a.\u{1}\u{2}"]
    {
      let error = #expect(throws: EnvironmentError.self) { try ClassName.findByFullPath(name) }
      #expect(error?.code == .unknownClass)
    }
  }
}

private class Underscored {
  let first = 0
  let _second = 0
}
private final class Inheriting: Underscored { let third_ = 0 }
private final class Empty {}
private class GenericallyUnderscored<Element> {
  var _only: Element?
  class Inner { var plain: Element? }
}
final class NamedByPath { final class Inner {} }
