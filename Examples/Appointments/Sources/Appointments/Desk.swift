import BeansSessions
import FoundationEssentials

/// The client of a session.
struct Visitor: Sendable {
  let name: SessionValue<String?>

  init(state: SessionState) throws { name = try state.value("name", default: nil) }
}

/// Handles one request.
struct Desk: Sendable {
  let request: Request
  let visitor: Visitor
  let store: AppointmentStore
  let transaction: Transaction

  func respond() async throws -> Response {
    switch (request.method, request.path) {
    case ("PUT", "/name"):
      visitor.name.set(request.body)
      return Response(status: 200, body: "Welcome!")
    case ("GET", "/appointments"):
      let lines = await store.booked.map { "\($0.start.formatted(.iso8601)) \($0.name)" }
      return Response(status: 200, body: lines.sorted().joined(separator: "\n"))
    case ("POST", "/appointments"): return try await book()
    default: throw Response(status: 404, body: "There is no such resource.")
    }
  }

  private func book() async throws -> Response {
    guard let name = visitor.name.value else { throw Response(status: 403, body: "PUT your name to /name first.") }
    guard let times = try? request.body.split(separator: "\n").map({ try Date(String($0), strategy: .iso8601) }) else {
      throw Response(status: 422, body: "Send a time in each line, such as 2027-03-01T10:00:00Z.")
    }
    for time in times { try await transaction.book(Appointment(start: time, name: name)) }
    return Response(status: 201, body: "\(times.count) booked for \(name).")
  }
}
