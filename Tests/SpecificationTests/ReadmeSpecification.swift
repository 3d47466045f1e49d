import Glibc
import Testing

@Suite("The example of the README") struct ReadmeSpecification {
  @Test("The example serves two requests of one session, which share its basket")
  func runs() throws {
    #expect(try serve() == ["Ada: tea", "Ada: tea, milk"])
  }

  @Test("The first listing of the README is the file that is compiled here, to the letter, and short")
  func isCompiled() throws {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let example = try content("\(folder.joined(separator: "/"))/ReadmeExample.swift")
    let readme = try content("\(folder.dropLast(2).joined(separator: "/"))/README.md")
    let listing = try #require(readme.split(separator: "```swift\n").dropFirst().first?.split(separator: "```\n").first)
    #expect(listing == example)
    #expect(example.split(separator: "\n").count <= 40)
  }

  @Test("The README has at most 220 lines")
  func isShort() throws {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    let readme = try content("\(folder.joined(separator: "/"))/README.md")
    #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 221)
  }

  private func content(_ path: String) throws -> String {
    let file = try #require(fopen(path, "r"), "\(path)")
    defer { fclose(file) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
    return String(decoding: text, as: UTF8.self)
  }
}
