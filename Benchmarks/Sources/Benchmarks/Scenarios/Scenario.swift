/// The scenarios; README.md describes each.
enum Scenario: String, CaseIterable {
  case request, sizes, children, lookup, features, curves, prototype, assisted, startup, coldStart = "cold-start"
  case asynchronous = "async", session, finish, contended, loop

  func measure(_ settings: Settings) throws -> Table {
    switch self {
    case .request: try RequestLifecycle(settings: settings).measure()
    case .sizes: try GraphSizes(settings: settings).measure()
    case .lookup: try Lookup(settings: settings).measure()
    case .prototype: try PrototypeBuild(settings: settings).measure()
    case .assisted: try AssistedBuild(settings: settings).measure()
    case .startup: try Startup(settings: settings).measure()
    case .coldStart: try ColdStarts(settings: settings).measure()
    case .session: try Sessions(settings: settings).measure()
    case .finish: try FinishAmongSiblings(settings: settings).measure()
    case .contended: try Contended(settings: settings).measure()
    case .children: try Children(settings: settings).measure()
    case .curves: try Curves(settings: settings).measure()
    case .asynchronous: try AsynchronousCreation(settings: settings).measure()
    case .features: try Features(settings: settings).measure()
    case .loop: try LoopScenario(settings: settings).measure()
    }
  }
}
