import Beans
import BeansJSON
import BeansSessions
import BeansTesting
import Foundation
import Testing

@testable import Appointments
@testable import AppointmentsServer

@Suite("The life of the service") struct LifecycleTests {
  private static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test("The declarations and the file of the configuration are valid, without starting the service")
  func declarations() {
    checkGraph { service in
      let file = Self.package.appendingPathComponent("appointments.json")
      try service.addConfigurationSource(JSONConfigurationSource(path: file.path))
      try declareServer(in: service)
    }
  }

  @Test("All faults of the configuration are reported at once")
  func configuration() throws {
    let service = try Environment(name: "appointments")
    try service.addConfigurationSource(
      ProcessInfoConfigurationSource(
        variables: [
          "APPOINTMENTS_BOOKING_NOTICE": "soon", "APPOINTMENTS_SERVER_HOST": "localhost",
          "APPOINTMENTS_SERVER_PORT": "http",
        ], prefix: "APPOINTMENTS"))
    try declareServer(in: service)
    let error = try #require(throws: EnvironmentError.self) { try service.startup() }
    #expect(error.underlying.count == 3)
    for variable in ["BOOKING_FILE", "BOOKING_NOTICE", "SERVER_PORT"] {
      #expect("\(error)".contains("APPOINTMENTS_\(variable)"))
    }
  }

  @Test("Appointments outlast the service")
  func file() async throws {
    try await TestService.withTemporaryFile { file in
      try await TestService.run(file: file) { service in
        _ = try await service.book("10:00", as: service.introduce("Ada"))
      }
      try await TestService.run(file: file) { service in
        let booked = try await service.booked
        #expect(booked == ["10:00 Ada"])
      }
    }
  }

  /// The transaction commits into the store, which then writes the file: the other order would lose the appointment.
  @Test("The end waits for a request in flight, then releases its transaction, then the store")
  func requestInFlight() async throws {
    try await TestService.run { service in
      let environment = service.environment
      let sessions = try environment.getBean(Sessions<SessionState>.self)
      let requests = try environment.getBean(EnvironmentFactory<Request>.self)
      let (entered, enter) = AsyncStream.makeStream(of: Void.self)
      let (left, leave) = AsyncStream.makeStream(of: Void.self)
      let request = Task {
        _ = try await sessions.withSession(cookie: nil) { session in
          try await requests.withChild(Request(method: "POST", path: "/"), in: session.environment) { child in
            let appointment = Appointment(start: TestService.start + 7_200, name: "Ada")
            try await child.getBean(Transaction.self).book(appointment)
            enter.finish()
            for await _ in left {}
          }
        }
      }
      for await _ in entered {}
      let end = Task { try await environment.shutdown() }
      while !environment.isFinished { await Task.yield() }
      #expect(!FileManager.default.fileExists(atPath: service.file.path))
      leave.finish()
      try await request.value
      try await end.value
      #expect(try String(contentsOf: service.file, encoding: .utf8).contains("Ada"))
    }
  }

  @Test("The program has at most 200 lines of code")
  func size() throws {
    let folder = Self.package.appendingPathComponent("Sources")
    let files = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
    let lines = try files.filter { $0.hasSuffix(".swift") }.flatMap { file in
      try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8).split(separator: "\n")
    }
    let code = lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty && !$0.hasPrefix("//") }
    #expect(code.count > 100 && code.count <= 200)
  }
}
