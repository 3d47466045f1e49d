import Foundation

/// A program that is compiled against the modules of this build, and run.
struct SwiftProgram {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private static let modules = [
    "BeansErrors", "BeansLogging", "CBeansRuntime", "BeansReflection", "BeansConfiguration", "Beans",
  ]
  let source: String

  /// Returns the lines that the program prints.
  func run() throws -> [String] {
    let (folder, main) = try write()
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = folder.appendingPathComponent("program")

    let build = try Self.buildFolder()
    // The folders of the modules may contain objects of deleted sources.
    let linked = build.appendingPathComponent("swift-beansPackageTests.product/Objects.LinkFileList")
    let objects = try String(contentsOf: linked, encoding: .utf8).split(separator: "\n").map(String.init)
      .filter { object in Self.modules.contains { object.contains("/\($0).build/") } }
    _ = try run("/usr/bin/env", Self.compiler(build) + [main.path, "-o", program.path] + objects)
    return try run(program.path, []).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// Returns the errors with which the compiler refuses the program, without their places; none if the program is
  /// valid.
  func errors() throws -> [String] {
    let (folder, main) = try write()
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      _ = try run(
        "/usr/bin/env", Self.compiler(try Self.buildFolder()) + ["-parse-as-library", "-typecheck", main.path])
      return []
    } catch let failure as Failure {
      return failure.description.split(separator: "\n").filter { $0.hasPrefix(main.path) }
        .compactMap { $0.components(separatedBy: ": error: ").dropFirst().first }
    }
  }

  private func write() throws -> (folder: URL, main: URL) {
    let files = FileManager.default
    let folder = files.temporaryDirectory.appendingPathComponent("beans-model-\(UUID().uuidString)")
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
    let main = folder.appendingPathComponent("main.swift")
    try source.write(to: main, atomically: true, encoding: .utf8)
    return (folder, main)
  }

  private static func compiler(_ build: URL) -> [String] {
    let map = build.appendingPathComponent("CBeansRuntime.build/module.modulemap").path
    return [
      "swiftc", "-swift-version", "6", "-warnings-as-errors", "-I", build.appendingPathComponent("Modules").path,
      "-Xcc", "-fmodule-map-file=\(map)", "-module-cache-path", build.appendingPathComponent("ModuleCache").path,
    ]
  }

  /// Returns the folder of the program that runs the tests, with the objects of its link.
  private static func buildFolder() throws -> URL {
    URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .deletingLastPathComponent()
  }

  private func run(_ path: String, _ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Failure(description: "\(path) ended with \(process.terminationStatus):\n\(text)")
    }
    return text
  }
}
