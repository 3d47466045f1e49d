import Appointments
import Beans
import BeansJSON
import BeansRunning
import Foundation

func declareServer(in service: Environment) throws {
  try declareAppointments(in: service)
  try service
    .define(ServerSettings.self, configuration: "server", rejectsUnknownKeys: true)
    .define(Announcement.self, factory: { Announcement { print("listening on port \($0)") } })
    .define(WebServer.self, factory: WebServer.init)
}

@main struct Main {
  static func main() async {
    do {
      let service = try Environment(name: "appointments")
      try service.addConfigurationSource(JSONConfigurationSource(path: "appointments.json"))
      try service.addConfigurationSource(ProcessInfoConfigurationSource(prefix: "APPOINTMENTS"))
      try declareServer(in: service)
      try await service.run(until: [.terminate, .interrupt])
    } catch {
      debugPrint(error)
      exit(EXIT_FAILURE)
    }
  }
}
