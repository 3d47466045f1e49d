import Beans
import Testing

/// A provider and a lookup that request the same bean in the same environment.
@Suite("Reasons of lookups") struct LookupReasonSpecification {
  @FreshEnvironment("application") private var application

  /// Returns the error of a provider whose environment's own lookup finds no such bean: only children declare it.
  private func reasonOfProvider<T: Sendable>(
    _ provider: Provider<T>, id: String? = nil, in environment: Environment,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> EnvironmentError {
    try requireFault(.unknownBean, sourceLocation: sourceLocation) { try environment.getBean(T.self, byId: id) }
    return try requireFault(sourceLocation: sourceLocation) {
      try Environment.$current.withValue(environment) { try provider.get() }
    }
  }

  /// Calls a provider of the application, then looks up in the environment; both have to fail for one reason.
  @discardableResult
  private func reason<T: Sendable>(
    _ provider: Provider<T>, id: String? = nil, in environment: Environment,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> EnvironmentError {
    let provided = try requireFault(sourceLocation: sourceLocation) {
      try Environment.$current.withValue(environment) { try provider.get() }
    }
    let found = try requireFault(sourceLocation: sourceLocation) { try environment.getBean(T.self, byId: id) }
    #expect(provided.code == found.code, "\(provided), but \(found)", sourceLocation: sourceLocation)
    #expect(provided.message == found.message, sourceLocation: sourceLocation)
    #expect(provided.path == found.path, sourceLocation: sourceLocation)
    return found
  }

  @Test("A bean that only a request declares is unknown to lookups further out, and not open for a provider")
  func onlyInARequest() throws {
    try application.define(
      all:
        application.bean(Asking<Part>.self, factory: Asking.init),
      application.bean(Asking<Part>.self, id: "by id", factory: Asking.init).argument(0, ref: "part"))
    let sessions = try application.childFactory("session", seed: Int.self)
    _ = try sessions.childFactory("request", seed: String.self) { try $0.define($0.bean(Part.self, id: "part")) }
    let (byType, byId) = (
      try application.getBeansByType(Asking<Part>.self)[0], try application.getBean(Asking<Part>.self, byId: "by id")
    )
    try sessions.withChild(1) { session in
      for environment in [application, session] {
        let fault = try reasonOfProvider(byType.provider, in: environment)
        #expect(fault.code == .scopeNotActive && fault.message.contains("scope 'request'"), "\(fault)")
        let named = try reasonOfProvider(byId.provider, id: "part", in: environment)
        #expect(named.code == .scopeNotActive && named.message.contains("'part'"), "\(named)")
      }
    }
    try application.shutdown()
  }

  @Test("The session that is current is not named as a scope that is not open")
  func currentSession() throws {
    try application.define(application.bean(Asking<Qualified<Tag, Part>>.self, factory: Asking.init))
    let sessions = try application.childFactory("session", seed: Int.self) { session in
      try session.define(session.bean(Part.self))
    }
    _ = try sessions.childFactory("request", seed: String.self) { request in
      try request.define(request.bean(Part.self).qualifier(Tag.self))
    }
    let asking = try application.getBean(Asking<Qualified<Tag, Part>>.self)
    try sessions.withChild(1) { session in
      let fault = try reasonOfProvider(asking.provider, in: session)
      #expect(fault.code == .scopeNotActive && fault.message.contains("scope 'request'"), "\(fault)")
    }
    try application.shutdown()
  }

  @Test("A bean that the session lacks is unknown for both, even if the children of another factory have one")
  func elsewhere() throws {
    try application.define(application.bean(Asking<Part>.self, factory: Asking.init))
    let sessions = try application.childFactory("session", seed: Int.self)
    _ = try application.childFactory("job", seed: String.self) { try $0.define($0.bean(Part.self)) }
    let asking = try application.getBean(Asking<Part>.self)
    try sessions.withChild(1) { session in
      let fault = try reason(asking.provider, in: session)
      #expect(fault.code == .unknownBean, "\(fault)")
    }
    try application.shutdown()
  }

  @Test("The missing bean of a factory is the reason, not the scope of the bean that it creates")
  func insideAFactory() throws {
    try application.define(application.bean(Asking<Holder>.self, factory: Asking.init))
    let sessions = try application.childFactory("session", seed: Int.self) { session in
      try session.define(
        session.bean(Holder.self, factory: { (here: Environment) in Holder(part: try here.getBean(Part.self)) }))
    }
    let asking = try application.getBean(Asking<Holder>.self)
    try sessions.withChild(1) { session in
      let fault = try reason(asking.provider, in: session)
      #expect(fault.code == .unknownBean && fault.passes("Holder") && fault.passes("Part"), "\(fault)")
    }
    try application.shutdown()
  }

  @Test("A provider of an optional or of several returns the result of a lookup")
  func optionalAndSeveral() throws {
    try application.define(
      all:
        application.bean(Asking<Part?>.self, factory: Asking.init),
      application.bean(Asking<[Part]>.self, factory: Asking.init))
    _ = try application.childFactory("request", seed: Int.self) { try $0.define($0.bean(Part.self)) }
    #expect(try application.getBean(Asking<Part?>.self).provider.get() == nil)
    #expect(try application.getBean(Part?.self) == nil)
    #expect(try application.getBean(Asking<[Part]>.self).provider.get().isEmpty)
    #expect(try application.getBeansByType(Part.self).isEmpty)
    try application.shutdown()
  }
}

private enum Tag {}

private final class Part: Initializable, Equatable, Sendable {
  init() {}
  static func == (left: Part, right: Part) -> Bool { left === right }
}

private final class Holder: Sendable {
  init(part: Part) {}
}

private final class Asking<T>: Sendable {
  let provider: Provider<T>
  init(provider: Provider<T>) { self.provider = provider }
}
