// Marked listings stand in the article to the letter: see ListingTests.swift.

// listing
import Beans

// end

struct ComingFromSwiftDependencies {
  protocol Weather: Sendable { func forecast() -> String }
  struct LiveWeather: Weather { func forecast() -> String { "rain" } }

  struct User: Sendable { let name: String }

  final class Handler: Sendable {
    private let user: User
    init(user: User) { self.user = user }
    func respond() async throws -> String { "Hello, \(user.name)!" }
  }
}

extension ComingFromSwiftDependencies {
  // continued
  final class Forecast: Sendable {
    private let weather: any Weather
    private let clock: any Clock<Duration>

    init(weather: any Weather, clock: any Clock<Duration>) { (self.weather, self.clock) = (weather, clock) }

    func tomorrow() async throws -> String {
      try await clock.sleep(for: .seconds(1))
      return weather.forecast()
    }
  }

  func declareForecast(in service: Environment) throws {
    try service
      .define(service.bean(LiveWeather.self, factory: LiveWeather.init))
      .define(service.bean((any Clock<Duration>).self, factory: { ContinuousClock() }))
      .define(service.bean(Forecast.self, factory: Forecast.init))
  }
  // end

  // listing
  func declareRequests(in service: Environment) throws -> EnvironmentFactory<User> {
    try service.childFactory("request", seed: User.self) { request in
      try request.define(request.bean(Handler.self, factory: Handler.init))
    }
  }

  func respond(to user: User, _ requests: EnvironmentFactory<User>) async throws -> String {
    try await requests.withChild(user) { request in try await request.getBean(Handler.self).respond() }
  }
  // end
}
