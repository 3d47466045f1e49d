import Beans
import FoundationEssentials

struct Appointment: Codable, Equatable, Sendable {
  let start: Date
  let name: String
}

/// Returns the current time. A test replaces it.
struct WallClock: Sendable { var now: @Sendable () -> Date = { .now } }

struct BookingSettings: Decodable, Sendable {
  /// The file that keeps appointments while the service does not run.
  let file: String
  /// The time from a request to the first appointment that it can book.
  let notice: Duration
}

/// The appointments of all clients.
actor AppointmentStore {
  private let settings: BookingSettings
  private let clock: WallClock
  private let file: URL
  private(set) var booked: [Appointment]
  /// The appointments of requests in flight.
  private var held: [Appointment] = []

  init(settings: BookingSettings, clock: WallClock) async throws {
    (self.settings, self.clock, file) = (settings, clock, URL(filePath: settings.file))
    let isNew = !FileManager.default.fileExists(atPath: file.path)
    booked = isNew ? [] : try JSONDecoder().decode([Appointment].self, from: Data(contentsOf: file))
  }

  func save() throws { try JSONEncoder().encode(booked).write(to: file, options: .atomic) }

  func hold(_ appointment: Appointment) throws {
    let earliest = clock.now() + settings.notice / .seconds(1)
    if appointment.start < earliest { throw Response(status: 422, body: "That is too early.") }
    let isTaken = (booked + held).contains { $0.start == appointment.start }
    if isTaken { throw Response(status: 409, body: "The time is taken.") }
    held.append(appointment)
  }

  func commit(_ appointments: [Appointment]) {
    rollBack(appointments)
    booked += appointments
  }

  func rollBack(_ appointments: [Appointment]) { held.removeAll(where: appointments.contains) }

  func removePast() { booked.removeAll { $0.start < clock.now() } }
}

/// The unit of work of a request: books all of its appointments, or none if the request fails.
actor Transaction {
  private let store: AppointmentStore
  private var held: [Appointment] = []

  init(store: AppointmentStore) { self.store = store }

  func book(_ appointment: Appointment) async throws {
    try await store.hold(appointment)
    held.append(appointment)
  }

  func end(_ outcome: ScopeOutcome) async {
    switch outcome {
    case .completed: await store.commit(held)
    case .failed: await store.rollBack(held)
    }
  }
}
