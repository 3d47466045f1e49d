import Testing

@testable import Appointments

@Suite("Sessions") struct SessionTests {
  @Test("A session keeps the name of its client")
  func name() async throws {
    try await TestService.run { service in
      let ada = try await service.introduce("Ada")
      #expect(try await service.book("10:00", as: ada) == Response(status: 201, body: "1 booked for Ada."))
      #expect(try await service.send("POST", "/appointments", "2027-01-01T11:00:00Z").status == 403)
    }
  }

  @Test("An id that a client has made up is replaced")
  func madeUp() async throws {
    try await TestService.run { service in
      let response = try await service.send("PUT", "/name", "Ada", session: "made up")
      #expect(try #require(response.session) != "made up")
    }
  }
}
