import BeansErrors
import Testing

@testable import BeansReflection

@Suite struct ClassNameTests {
  private func isFound(_ name: String, _ type: AnyClass) throws -> Bool { try ClassName.find(name) == type }

  private func message(_ name: String) -> String {
    do {
      return "found \(try ClassName.find(name))"
    } catch let error as EnvironmentError where error.code == .unknownClass {
      return error.message
    } catch { return "threw \(error)" }
  }

  @Test func classesAreFoundByTheirNames() throws {
    #expect(try isFound("BeansReflectionTests.NamedForTests", NamedForTests.self))
    #expect(try isFound("NamedForTests", NamedForTests.self))
    #expect(try isFound("Beans.BeanDescriptor", BeanDescriptor.self))
    #expect(try isFound("BeansReflectionTests.Kinds.Everything", Kinds.Everything.self))
    #expect(try isFound("Kinds.Everything", Kinds.Everything.self))
    #expect(try isFound("BeansReflectionTests.NamedForTests.Inner.Innermost", NamedForTests.Inner.Innermost.self))
    #expect(try isFound("Innermost", NamedForTests.Inner.Innermost.self))
    #expect(try isFound("PrivatelyNamed", PrivatelyNamed.self))
    #expect(try isFound("Gr\u{00f6}\u{00df}e", Größe.self))
    #expect(try isFound("Beans.BeanDescriptor.ForeignlyNested", BeanDescriptor.ForeignlyNested.self))
    #expect(try isFound("BeansReflectionTests.AddedToString", String.AddedToString.self))
    #expect(try isFound("BeansReflectionTests.NamedForTests.InExtension", NamedForTests.InExtension.self))
  }

  @Test func localClassesAreFoundByTheirNames() throws {
    final class LocallyNamed {}
    #expect(try isFound("LocallyNamed", LocallyNamed.self))
    #expect(try isFound("BeansReflectionTests.ClassNameTests.LocallyNamed", LocallyNamed.self))
  }

  @Test func genericClassesAreRefusedByName() {
    #expect(message("BeansReflectionTests.GenericNamed").contains("is generic"))
    #expect(message("GenericNamed").contains("is generic"))
    #expect(message("GenericNamed.InGeneric").contains("is generic"))
    #expect(message("GenericNamed<Int>").contains("is no class"))
  }

  @Test func ambiguousNamesListTheirClasses() {
    #expect(
      message("NamedTwice")
        == "'NamedTwice' is the name of several classes: BeansReflectionTests.FirstHome.NamedTwice, BeansReflectionTests.SecondHome.NamedTwice"
    )
    #expect(message("BeansReflectionTests.FirstHome.NamedTwice").hasPrefix("found"))
    do { final class LocallyTwice {} }
    do { final class LocallyTwice {} }
    #expect(message("LocallyTwice").contains("2 times BeansReflectionTests.ClassNameTests.LocallyTwice"))
  }

  /// A class at the top of its module hides a namesake that is nested elsewhere.
  @Test func aTopLevelClassHidesANestedNamesake() throws { #expect(try isFound("NamedOutside", NamedOutside.self)) }

  @Test func namesOfOtherTypesAreRefusedWithTheirKind() {
    #expect(message("Swift.String").contains("Swift.String is a struct"))
    #expect(message("BeansReflectionTests.Kinds.Color").contains("is an enum"))
    #expect(message("BeansReflectionTests.Kinds.Living").contains("is a protocol"))
    #expect(message("Beans.Bean").contains("is a protocol"))
    #expect(message("Beans").contains("is no class in this program"))
  }

  @Test func nearMissesAreSuggested() {
    #expect(message("NamedForTest").contains("did you mean BeansReflectionTests.NamedForTests?"))
    #expect(message("BeansReflectionTests.NamdForTests").contains("did you mean BeansReflectionTests.NamedForTests?"))
  }

  @Test(arguments: [
    "", ".", "..", "a.", ".a", "#", "$", "$s", "$s5Beans14BeanDescriptorC", "Outer#Inner", "Outer$Inner", "A.B#C",
    "A.B$C",
    "NamedForTests.", ".NamedForTests", "NamedForTests ", "NamedForTests\0", "\0", "\u{1F600}", "NamedForTests.Type",
    "namedfortests", "Array<Int>", "Swift.Array<Swift.Int>", "5Beans14BeanDescriptorC", "()", "?", "some P",
    "any Error",
    String(repeating: "A", count: 100_000), String(repeating: "A.", count: 10_000), "\u{01}\u{02}\u{03}\u{04}\u{05}",
  ])
  func anyTextIsRefusedAsUnknown(name: String) { #expect(message(name).contains("is no class in this program")) }
}

class NamedForTests {
  struct Inner { final class Innermost {} }
}
private final class PrivatelyNamed {}
private final class Größe {}
extension BeanDescriptor { fileprivate final class ForeignlyNested {} }
extension String { fileprivate final class AddedToString {} }
extension NamedForTests { final class InExtension {} }
private class GenericNamed<Element> { class InGeneric {} }
private enum FirstHome { final class NamedTwice {} }
private enum SecondHome { final class NamedTwice {} }
private final class NamedOutside {}
private enum ThirdHome { final class NamedOutside {} }
