// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Declarations of our own, in a module with the name of the other package's.
func declarations(
  _ name: String, _ dependencies: Target.Dependency..., features: [SwiftSetting] = []
) -> Target {
  .target(name: name, dependencies: dependencies, path: "Declarations/\(name)", swiftSettings: settings + features)
}

/// The listings of one article, except those that the target of the tests compiles.
func listings(_ article: String, _ dependencies: Target.Dependency..., exclude: [String] = []) -> Target {
  .target(
    name: "\(article)Listings", dependencies: dependencies, path: "Listings/\(article)", exclude: exclude,
    swiftSettings: settings)
}

let beans = Target.Dependency.product(name: "Beans", package: "swift-beans")
let running = Target.Dependency.product(name: "BeansRunning", package: "swift-beans")
let sessions = Target.Dependency.product(name: "BeansSessions", package: "swift-beans")
let graph = Target.Dependency.product(name: "BeansGraph", package: "swift-beans")
let appointments = Target.Dependency.product(name: "Appointments", package: "Appointments")
let logging = Target.Dependency.product(name: "BeansLogging", package: "swift-beans")
let testing = Target.Dependency.product(name: "BeansTesting", package: "swift-beans")

// A package of its own, so that its modules, which are named as those of other packages, are no part of the libraries.
let package = Package(
  name: "Adapters",
  // For the program of the article "Getting started".
  products: [.library(name: "Hummingbird", targets: ["Hummingbird"])],
  dependencies: [.package(name: "swift-beans", path: "../.."), .package(path: "../../Examples/Appointments")],
  targets: [
    declarations("Logging"),
    // As swift-configuration: its closures run on the caller's actor.
    declarations("Configuration", features: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    declarations("HTTPTypes"),
    declarations("OpenAPIRuntime", "HTTPTypes"),
    declarations("NIOCore"),
    declarations("NIOPosix", "NIOCore"),
    declarations("UnixSignals"),
    declarations("ServiceLifecycle", "Logging", "UnixSignals"),
    declarations("Hummingbird", "HTTPTypes", "Logging", "ServiceLifecycle", "UnixSignals"),
    declarations("HummingbirdTesting", "HTTPTypes", "Hummingbird"),
    declarations("Metrics"),
    declarations("Tracing"),
    declarations("Vapor"),
    declarations("Valkey", "Logging"),
    listings("SwiftLog", beans, logging, "Logging"),
    listings("SwiftConfiguration", beans, "Configuration"),
    listings("OpenAPIHandlers", beans, "HTTPTypes", "OpenAPIRuntime"),
    listings("SwiftNIO", beans, sessions, "NIOCore", "NIOPosix"),
    listings("ServiceLifecycle", beans, running, "Logging", "ServiceLifecycle", "UnixSignals"),
    listings(
      "Hummingbird", beans, logging, running, sessions, appointments, "HTTPTypes", "Hummingbird", "Logging",
      "ServiceLifecycle", "UnixSignals", exclude: ["UseTests.swift"]),
    listings("Sessions", beans, sessions, "Hummingbird", "HummingbirdListings"),
    listings("MetricsAndTracing", beans, "Metrics", "Tracing"),
    listings("Vapor", beans, "Vapor"),
    listings("AStoreOfYourOwn", sessions, "Logging", "Valkey"),
    .executableTarget(
      name: "ReadmeCheck", dependencies: [graph, "HummingbirdListings"], path: "ReadmeCheck", swiftSettings: settings),
    .testTarget(
      name: "AdapterTests",
      dependencies: [
        beans, logging, sessions, testing, "Logging", "Configuration", "HTTPTypes", "OpenAPIRuntime", "NIOCore",
        "NIOPosix",
        "SwiftLogListings", "SwiftConfigurationListings", "OpenAPIHandlersListings", "SwiftNIOListings",
        "ServiceLifecycle", "UnixSignals", "ServiceLifecycleListings",
        "Hummingbird", "HummingbirdTesting", "HummingbirdListings", "SessionsListings", appointments,
        "Metrics", "Tracing", "MetricsAndTracingListings",
        "Vapor", "VaporListings",
        "Valkey", "AStoreOfYourOwnListings",
      ],
      path: "Tests", swiftSettings: settings),
  ]
)
