import Beans
import BeansTesting
import Foundation
import Testing

@testable import Appointments

@Suite("Booking") struct BookingTests {
  @Test("An appointment is booked under the name of its client")
  func books() async throws {
    try await TestService.run { service in
      let ada = try await service.introduce("Ada")
      let response = try await service.book("10:00", "09:00", as: ada)
      #expect(response == Response(status: 201, body: "2 booked for Ada."))
      #expect(try await service.booked == ["09:00 Ada", "10:00 Ada"])
    }
  }

  @Test("Of two clients that book one time at once, one gets it, and the other one 409")
  func conflict() async throws {
    try await TestService.run { service in
      let (ada, grace) = (try await service.introduce("Ada"), try await service.introduce("Grace"))
      async let first = service.book("10:00", as: ada)
      async let second = service.book("10:00", as: grace)
      #expect(try await [first.status, second.status].sorted() == [201, 409])
      #expect(try await service.booked.count == 1)
    }
  }

  @Test("A request that fails books none of its appointments")
  func rollBack() async throws {
    try await TestService.run { service in
      let (ada, grace) = (try await service.introduce("Ada"), try await service.introduce("Grace"))
      #expect(try await service.book("11:00", as: ada).status == 201)
      #expect(try await service.book("10:00", "11:00", as: grace).status == 409)
      #expect(try await service.booked == ["11:00 Ada"])
      #expect(try await service.book("10:00", as: ada).status == 201)
    }
  }

  @Test("A time within the notice is refused")
  func notice() async throws {
    try await TestService.run { service in
      let ada = try await service.introduce("Ada")
      #expect(try await service.book("00:59", as: ada).status == 422)
      #expect(try await service.book("01:00", as: ada).status == 201)
    }
  }

  @Test("A malformed request is refused", arguments: [("POST", "/appointments", 422), ("GET", "/other", 404)])
  func malformed(method: String, path: String, status: Int) async throws {
    try await TestService.run { service in
      let ada = try await service.introduce("Ada")
      #expect(try await service.send(method, path, "tomorrow", session: ada).status == status)
    }
  }

  @Test("Past appointments are removed each minute")
  func past() async throws {
    try await TestService.run { service in
      let store = try service.environment.getBean(AppointmentStore.self)
      let appointment = Appointment(start: TestService.start + 3_600, name: "Ada")
      try await store.hold(appointment)
      await store.commit([appointment])
      try await service.clock.waitForSleepers()
      service.clock.advance(by: .seconds(3_660))
      try await service.clock.waitForSleepers()
      #expect(await store.booked.isEmpty)
    }
  }
}
