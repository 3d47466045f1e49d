import Glibc
import Testing

@Suite("The example of the README") struct ReadmeSpecification {
  @Test("greets everybody")
  func runs() throws {
    #expect(try greetVisitors() == ["Hello, Ada!", "Hello, Grace!"])
  }

  @Test("is the file that is compiled here, to the letter, and short")
  func isCompiled() throws {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let example = try content("\(folder.joined(separator: "/"))/ReadmeExample.swift")
    let readme = try content("\(folder.dropLast(2).joined(separator: "/"))/README.md")
    let listing = try #require(readme.split(separator: "```swift\n").dropFirst().first?.split(separator: "```\n").first)
    #expect(listing == example)
    #expect(example.split(separator: "\n").count <= 25)
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
