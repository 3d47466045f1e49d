import Foundation
import Testing

@testable import Storefront

/// The effect of `BEANS_PROFILES` on the process.
@Suite(.timeLimit(.minutes(20))) struct ProfileTests {
  @Test func theProfileForTestsLeavesNoDatabase() throws {
    let database = try TemporaryDatabase()
    let service = try ServiceProcess(database: database.path, environment: ["BEANS_PROFILES": "test"])
    _ = try service.port()
    #expect(FileManager.default.fileExists(atPath: database.path + ".test"))
    let end = try service.end()
    #expect(end.isClean, "\(end.output)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: database.folder) == [])
  }
}
