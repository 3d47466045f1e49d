import Foundation
import Testing

/// The rules of DESIGN for the folders of `Beans`, read from the text of the sources.
@Suite struct RepositoryTests {
  /// Each folder names only types and members of those before it.
  private static let order = ["Memory", "Declaration", "Plan", "Compiler", "Runtime", "Environment"]

  /// Each row of the article ends in the name of a file or a target of `Tests`, and of a test in it.
  @Test func everyPromiseNamesATestThatExists() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let article = try String(
      contentsOf: root.appendingPathComponent("Sources/Beans/Beans.docc/WhatYouCanRelyOn.md"), encoding: .utf8)
    var count = 0
    for line in article.split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| Promise") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let parts = try #require(cells.last).split(separator: ": ", maxSplits: 1).map(String.init)
      try #require(parts.count == 2, "\(line)")
      let isSentence = parts[1].hasPrefix("“")
      let name = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "“”`"))
      let place = root.appendingPathComponent(
        isSentence ? "Tests/SpecificationTests/\(parts[0])Specification.swift" : "Tests/\(parts[0])")
      let files =
        isSentence
        ? [place]
        : FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
      let wanted = isSentence ? "\"\(name)\"" : "func \(name)("
      let isThere = files.contains { (try? String(contentsOf: $0, encoding: .utf8).contains(wanted)) == true }
      #expect(isThere, "no such test: \(parts[1]) in \(parts[0])")
      count += 1
    }
    #expect(count >= 40)
  }

  /// Each row of the table in the article names files, and declarations of which each is in one of them.
  @Test func everyPlaceOfAPromiseExists() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources")
    let article = try String(
      contentsOf: root.appendingPathComponent("Beans/Beans.docc/LifeOfABean.md"), encoding: .utf8)
    let lines = article.split(separator: "\n")
      .drop { $0 != "## Where each promise is kept" }.prefix { $0 != "## What relies on more than the language" }
    var count = 0
    for line in lines where line.hasPrefix("| ") && !line.hasPrefix("| promise") {
      let cells = line.split(separator: "|").map { $0.matches(of: /`([^`]+)`/).map { String($0.1) } }
      try #require(cells.count == 3, "\(line)")
      var text = ""
      for place in cells[1] {
        // A module, or a file of Beans.
        let url = root.appendingPathComponent(place.contains("/") ? "Beans/\(place)" : place)
        let files =
          place.contains("/")
          ? [url]
          : FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        let texts = files.compactMap { try? String(contentsOf: $0, encoding: .utf8) }
        #expect(!texts.isEmpty, "no such file or module: \(place)")
        text += texts.joined()
      }
      for name in cells[2] {
        let last = try #require(name.prefix { $0 != "(" }.split(separator: ".").last)
        let declaration = last == "init" ? "init(" : "(func|struct|class|enum|protocol|var|let|case) \(last)\\b"
        let isThere =
          last == "init"
          ? text.contains(declaration) : text.firstMatch(of: try Regex<(Substring, Substring)>(declaration)) != nil
        #expect(isThere, "\(name) is not declared in \(cells[1].joined(separator: ", "))")
        count += 1
      }
    }
    #expect(count >= 70)
  }

  @Test func everyFolderIsInTheOrder() throws {
    let sources = try SwiftSource.beans.get()
    #expect(sources.count > 20)
    #expect(Set(sources.compactMap { $0.folders.first }) == Set(Self.order))
    // Next to the folders is only the file of re-exports.
    #expect(sources.filter { $0.folders.isEmpty }.map(\.path) == ["Exports.swift"])
  }

  @Test func foldersNameOnlyEarlierOnes() throws {
    let sources = try SwiftSource.beans.get()
    /// The files that declare each type; only a type of a single file is identified by its name.
    var homes: [String: [SwiftSource]] = [:]
    for source in sources {
      for name in source.declared { homes[name, default: []].append(source) }
    }
    var violations: [String] = []
    for source in sources {
      guard let place = source.folders.first.flatMap(Self.order.firstIndex) else { continue }
      for name in source.words.sorted() {
        guard let files = homes[name], files.count == 1,
          let home = files[0].folders.first.flatMap(Self.order.firstIndex)
        else { continue }
        if home > place { violations.append("\(source.path) names \(name) of \(files[0].path)") }
      }
    }
    #expect(violations.isEmpty, "\n\(violations.joined(separator: "\n"))")
  }

  /// A member of a single file is identified by its name. Extensions of `Environment` are in several folders.
  @Test func foldersUseOnlyMembersOfEarlierOnes() throws {
    let sources = try SwiftSource.beans.get()
    var homes: [String: [SwiftSource]] = [:]
    for source in sources {
      for name in source.members { homes[name, default: []].append(source) }
    }
    #expect(homes.count > 500)
    // The standard library has members of these names, and functions have variables of others.
    let ambiguous = sources.reduce(into: ["insert", "private"] as Set) { $0.formUnion($1.inner) }
    var violations: [String] = []
    for source in sources {
      guard let place = source.folders.first.flatMap(Self.order.firstIndex) else { continue }
      for name in source.used.sorted() {
        guard let files = homes[name], files.count == 1, !ambiguous.contains(name),
          let home = files[0].folders.first.flatMap(Self.order.firstIndex)
        else { continue }
        if home > place { violations.append("\(source.path) uses \(name) of \(files[0].path)") }
      }
    }
    #expect(violations.isEmpty, "\n\(violations.joined(separator: "\n"))")
  }

  /// The folder inside of such a module is below the rest of it.
  @Test(arguments: ["BeansConfiguration", "BeansReflection"])
  func innerFoldersNameNoTypeAroundThem(_ module: String) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let sources = try SwiftSource.all(in: root.appendingPathComponent("Sources/\(module)"))
    let inner = sources.filter { !$0.folders.isEmpty }
    #expect(inner.count > 5)
    let around = Set(sources.filter { $0.folders.isEmpty }.flatMap(\.declared)).subtracting(inner.flatMap(\.declared))
    let violations = inner.flatMap { source in
      source.words.intersection(around).sorted().map { "\(source.path) names \($0)" }
    }
    #expect(violations.isEmpty, "\n\(violations.joined(separator: "\n"))")
  }

  @Test func unsafeCodeIsInMemoryOnly() throws {
    let files = try SwiftSource.beans.get().filter { !$0.unsafe.isEmpty }
    #expect(files.count <= 5)
    let outside = files.filter { $0.folders.first != "Memory" }
    let list = outside.map { "\($0.path): \($0.unsafe.joined(separator: ", "))" }
    #expect(list.isEmpty, "\n\(list.joined(separator: "\n"))")
  }

  // MARK: the reader of sources

  @Test func commentsAndStringsAreNotRead() {
    let source = SwiftSource(
      path: "A/B.swift",
      text: #"""
        /// A struct Hidden.
        struct Shown<Value>: Sendable { /* class Gone /* enum Nested */ actor Gone */ }
        final class Inner { let text = "struct Quoted \(Used.self, "and \(Deep.self) \" Not")" }
        let unmanaged = "Unmanaged"  // Unmanaged
        let lines = """
          enum Quoted "\(Inside(1).value)"
          """
        func call() { withUnsafePointer(to: 1) { $0 } }
        class func Method() {}
        unowned(unsafe) var reference: UnsafeRawPointer
        """#)
    #expect(source.declared == ["Shown", "Inner"])
    #expect(source.words.isSuperset(of: ["Used", "Deep", "Inside", "Sendable", "Method"]))
    #expect(source.words.isDisjoint(with: ["Hidden", "Gone", "Nested", "Quoted", "Not", "Unmanaged"]))
    #expect(source.unsafe == ["withUnsafePointer", "UnsafeRawPointer", "unowned(unsafe)"])
    #expect(source.folders == ["A"])
    #expect(source.lines == 9)
  }
}
