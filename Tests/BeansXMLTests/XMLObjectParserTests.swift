import Beans
import BeansXML
import Foundation
import Testing

final class Recipe: Initializable {
  enum Course: String { case starter, main }

  var title = ""
  var serves: Int?
  var course = Course.main
  var steps: [String] = []
  var tags: Set<String> = []
  private(set) var ingredients: [Ingredient] = []
  var author: Cook?
  let fixed = 1
}

class Ingredient: Initializable {
  var name = ""
  var grams = 0.0
  var note = ""

  required init() {}
}

final class Spice: Ingredient {
  var hot = false
}

/// A subclass of `NSObject`.
final class Cook: NSObject, Initializable {
  var name = ""
}

/// The parser for classes of the user's own.
@Suite struct XMLObjectParserTests {
  private func parser() throws -> XMLObjectParser {
    try XMLObjectParser().register(
      XMLObjectParser.mapping(Recipe.self, element: "recipe").property("title", xml: "name")
        .property("ingredients", xml: "ingredient").property("ingredients", xml: "spice")
        .property("steps", xml: "step"),
      XMLObjectParser.mapping(Ingredient.self, element: "ingredient").text("note"),
      XMLObjectParser.mapping(Spice.self, element: "spice"),
      XMLObjectParser.mapping(Cook.self, element: "author", namespace: "u:people"))
  }

  private func parse(_ text: String) throws -> Recipe {
    try parser().parse(Data(text.utf8), source: "recipe.xml", as: Recipe.self)
  }

  private func faults(_ text: String) throws -> [EnvironmentError] {
    let error = try #require(throws: EnvironmentError.self) { try parse(text) }
    return error.underlying.isEmpty ? [error] : error.underlying.compactMap { $0 as? EnvironmentError }
  }

  @Test func attributesTextsAndObjectsBecomeProperties() throws {
    let recipe = try parse(
      """
      <?xml version="1.0"?>
      <recipe name="Stew" serves="4" xmlns:p="u:people" xsi:schemaLocation="a b">
        <course>starter</course>
        <ingredient name="beef" grams="500"> lean </ingredient>
        <step>Cut.</step>
        <spice name="chili" grams="0.5" hot="true"/>
        <step>Cook &amp; serve.</step>
        <tags>warm, winter</tags>
        <p:author><name>Ann</name></p:author>
      </recipe>
      """)
    #expect(recipe.title == "Stew" && recipe.serves == 4 && recipe.course == .starter)
    #expect(recipe.steps == ["Cut.", "Cook & serve."] && recipe.tags == ["warm", "winter"])
    #expect(recipe.ingredients.map(\.name) == ["beef", "chili"] && recipe.ingredients.map(\.grams) == [500, 0.5])
    #expect(recipe.ingredients.first?.note == "lean" && (recipe.ingredients.last as? Spice)?.hot == true)
    #expect(recipe.author?.name == "Ann")
  }

  @Test func missingContentsLeaveTheInitialValues() throws {
    let recipe = try parse("<recipe/>")
    #expect(recipe.title.isEmpty && recipe.serves == nil && recipe.ingredients.isEmpty)
  }

  @Test(arguments: [
    ("<recip/>", "<recip> has no class; did you mean <recipe>?", 1),
    ("<recipe titel='a'/>", "'titel' is not known: Recipe has no stored property 'titel'; did you mean 'title'?", 9),
    ("<recipe p:name='a'/>", "the attribute 'p:name' is not known", 9),
    ("<recipe serves='many'/>", "serves: cannot convert 'many' (String) to Optional<Int>", 9),
    ("<recipe><stp>a</stp></recipe>", "<stp> is not known: Recipe has no stored property 'stp'", 9),
    ("<recipe><course>main<x/></course></recipe>", "<course> has no class, and contains more than text", 9),
    ("<recipe><course>main</course><course>main</course></recipe>", "<course>: the property 'course' is set twice", 30),
    ("<recipe name='a' title='b'/>", "title: the property 'title' is set twice", 18),
    ("<recipe>text</recipe>", "<recipe>: text is not expected here", 1),
    ("<recipe fixed='2'/>", "cannot be accessed by name: it is a constant", 9),
    ("<recipe><recipe/></recipe>", "<recipe> is not known: Recipe has no stored property 'recipe'", 9),
    ("<recipe><author><name>a</name></author></recipe>", "<author> has no class, and contains more than text", 9),
    ("<recipe", "'>' is missing", 8),
  ])
  func aFaultHasItsPlace(text: String, message: String, column: Int) throws {
    let faults = try faults(text)
    #expect(faults.count == 1 && faults[0].message.contains(message), "\(faults)")
    #expect(faults.first?.origin == .init(file: "recipe.xml", line: 1, column: column), "\(faults)")
  }

  @Test func allFaultsAreReportedAtOnce() throws {
    let faults = try faults(
      """
      <recipe serves="x" colour="red">
        <ingredient grams="heavy"/>
        <unknown/>
        <spice hot="maybe" heat="1"/>
      </recipe>
      """)
    #expect(faults.compactMap(\.origin?.line).sorted() == [1, 1, 2, 3, 4, 4], "\(faults)")
    #expect(Set(faults.compactMap(\.origin?.file)) == ["recipe.xml"])
  }

  @Test func anyByteChangedEndsInAnObjectOrAFault() throws {
    let parser = try parser()
    let bytes = Array(
      """
      <recipe name='Stew' serves='4' xmlns:p='u:people'><course>main</course><ingredient grams='5'>x</ingredient>
      <step>Cut.</step><step/><spice hot='true'/><p:author><name>A</name></p:author></recipe>
      """.utf8)
    for index in bytes.indices {
      for byte in [0x22, 0x26, 0x3C, 0x3E, 0x61, 0xC3] as [UInt8] {
        var changed = bytes
        changed[index] = byte
        do { _ = try parser.parse(Data(changed), as: Recipe.self) } catch { #expect(error is EnvironmentError) }
      }
    }
  }

  @Test func theRootHasTheWantedType() throws {
    let ingredient = try parser().parse(Data("<spice name='salt'/>".utf8), as: Ingredient.self)
    #expect(ingredient is Spice)
    let error = #expect(throws: EnvironmentError.self) {
      try parser().parse(Data("<recipe/>".utf8), as: Ingredient.self)
    }
    #expect(error?.code == .typeMismatch && error?.message == "<recipe> is a Recipe, not a Ingredient")
    let wrong = try XMLObjectParser().register(
      XMLObjectParser.mapping(Recipe.self, element: "recipe"), XMLObjectParser.mapping(Recipe.self, element: "author"))
    let mismatch = #expect(throws: EnvironmentError.self) {
      try wrong.parse(Data("<recipe><author/></recipe>".utf8), as: Recipe.self)
    }
    #expect(mismatch?.message == "<author> is a Recipe, not a Cook" && mismatch?.origin?.column == 9)
  }

  @Test func mappingsAreCheckedWhenTheyAreRegistered() throws {
    let parser = XMLObjectParser()
    let unknown = #expect(throws: EnvironmentError.self) {
      try parser.register(XMLObjectParser.mapping(Recipe.self, element: "recipe").property("titel", xml: "name"))
    }
    #expect(unknown?.code == .unknownProperty)
    try parser.register(XMLObjectParser.mapping(Recipe.self, element: "recipe"))
    let twice = #expect(throws: EnvironmentError.self) {
      try parser.register(XMLObjectParser.mapping(Cook.self, element: "recipe"))
    }
    #expect(twice?.code == .invalidDeclaration)
  }

  @Test func conversionsAreThoseOfTheFactory() throws {
    let conversions = StandardConversionFactory().register(String.self, targetType: Int.self) { $0.count }
    let parser = try XMLObjectParser(conversions: conversions).register(
      XMLObjectParser.mapping(Recipe.self, element: "recipe"))
    #expect(try parser.parse(Data("<recipe serves='four'/>".utf8), as: Recipe.self).serves == 4)
  }
}
