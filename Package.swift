// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
]
/// The settings of products, in which every unsafe expression is marked. Tests may omit the marks.
let strict = settings + [.strictMemorySafety()]  // SE-0458

let package = Package(
  name: "swift-beans",
  products: [
    .library(name: "BeansLogging", targets: ["BeansLogging"]),
    .library(name: "Beans", targets: ["Beans"]),
    .library(name: "BeansRunning", targets: ["BeansRunning"]),
    .library(name: "BeansGraph", targets: ["BeansGraph"]),
    .library(name: "BeansJSON", targets: ["BeansJSON"]),
    .library(name: "BeansYAML", targets: ["BeansYAML"]),
    .library(name: "BeansXML", targets: ["BeansXML"]),
    .library(name: "BeansEventLoop", targets: ["BeansEventLoop"]),
    .library(name: "BeansServer", targets: ["BeansServer"]),
    .library(name: "BeansOperations", targets: ["BeansOperations"]),
    .library(name: "BeansSessions", targets: ["BeansSessions"]),
    .library(name: "BeansRedis", targets: ["BeansRedis"]),
    .library(name: "BeansTesting", targets: ["BeansTesting"]),
    .library(name: "BeansServerTesting", targets: ["BeansServerTesting"]),
    .library(name: "BeansTool", targets: ["BeansTool"]),
    .plugin(name: "BeansCheck", targets: ["BeansCheck"]),
    .plugin(name: "BeansCommand", targets: ["BeansCommand"]),
  ],
  targets: [
    // C libraries, which stand in the system's own folders. Without `pkgConfig`: SwiftPM would ask for it, and warn, on
    // behalf of packages that use only `Beans`.
    .systemLibrary(name: "CLibuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CHTTPParser", providers: [.apt(["libhttp-parser-dev"])]),
    .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]),

    // The libraries, each depending only on those above it.
    .target(name: "BeansPlatform", swiftSettings: strict),
    .target(name: "BeansLogging", dependencies: ["BeansPlatform"], swiftSettings: strict),
    .target(name: "CBeansRuntime"),
    // The errors of all modules, which `Beans` exports.
    .target(name: "BeansErrors", swiftSettings: strict),
    .target(
      name: "BeansSupport", dependencies: ["BeansErrors", "BeansLogging", "CBeansRuntime"], swiftSettings: strict),
    .target(
      name: "BeansReflection", dependencies: ["BeansErrors", "BeansSupport", "CBeansRuntime"], swiftSettings: strict),
    .target(
      name: "BeansConfiguration", dependencies: ["BeansErrors", "BeansLogging", "BeansSupport", "BeansReflection"],
      swiftSettings: strict),
    .target(
      name: "Beans",
      dependencies: [
        "BeansErrors", "BeansLogging", "CBeansRuntime", "BeansSupport", "BeansReflection", "BeansConfiguration",
      ],
      swiftSettings: strict),
    // Beans that run and scheduled calls: apart, so that a program without them reads less.
    .target(
      name: "BeansRunning", dependencies: ["BeansErrors", "BeansLogging", "CBeansRuntime", "BeansSupport", "Beans"],
      swiftSettings: strict),
    .target(name: "BeansGraph", dependencies: ["Beans"], swiftSettings: strict),
    // Apart from `BeansXML`, so that a program that reads JSON links neither Foundation nor ICU.
    .target(name: "BeansJSON", dependencies: ["Beans"], swiftSettings: strict),
    .target(name: "BeansYAML", dependencies: ["Beans", "CYAML"], swiftSettings: strict),
    .target(
      name: "BeansXML", dependencies: ["Beans", "BeansJSON", "BeansSupport", "BeansLogging"], swiftSettings: strict),
    // Sessions by id, in memory or in a store, without a loop. Apart from `BeansServer`, because values in a store need Foundation's
    // coders.
    .target(name: "BeansSessions", dependencies: ["BeansLogging", "BeansSupport", "Beans"], swiftSettings: strict),
    .target(name: "BeansEventLoop", dependencies: ["BeansPlatform", "CLibuv"], swiftSettings: strict),
    .target(
      name: "BeansServer",
      dependencies: ["BeansLogging", "BeansSupport", "Beans", "BeansRunning", "BeansEventLoop"],
      swiftSettings: strict),
    // The store of sessions for several nodes, on event loops: apart, so that sessions in memory need no libuv.
    .target(
      name: "BeansRedis",
      dependencies: ["BeansLogging", "BeansSupport", "Beans", "BeansSessions", "BeansEventLoop"],
      swiftSettings: strict),

    // Probes, metrics, reports and a page, for any HTTP server. It observes loops, sessions and the lifecycle of `BeansServer`,
    // which knows nothing of it.
    .target(
      name: "BeansOperations",
      dependencies: ["BeansLogging", "BeansSupport", "Beans", "BeansRunning", "BeansGraph", "BeansServer"],
      swiftSettings: strict),

    // For tests of programs that use the container. Only this module imports the testing library of the toolchain.
    .target(name: "BeansTesting", dependencies: ["Beans", "BeansSupport"], swiftSettings: strict),
    // Separate, so that tests without a loop need no libuv.
    .target(name: "BeansServerTesting", dependencies: ["BeansEventLoop"], swiftSettings: strict),

    // The check of declarations during a build, and the command that reports on them. The plugins run a program of the package
    // that uses them.
    .target(name: "BeansTool", dependencies: ["Beans", "BeansGraph", "BeansSupport"], swiftSettings: strict),
    .executableTarget(name: "beans-place", path: "Sources/BeansPlace"),
    .plugin(name: "BeansCheck", capability: .buildTool(), dependencies: ["beans-place"]),
    .plugin(
      name: "BeansCommand",
      capability: .command(
        intent: .custom(verb: "beans", description: "Answers questions about the beans that a package declares"))),

    // The example service: everything but its start is a library, so that another program can link the declarations.
    .target(
      name: "Storefront",
      dependencies: [
        "BeansOperations", "BeansRedis", "BeansSessions", "BeansServer", "BeansEventLoop", "BeansJSON", "BeansRunning",
        "Beans", "BeansLogging", "CSQLite", "CHTTPParser",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "StorefrontServer", dependencies: ["Storefront"], exclude: ["storefront.json"], swiftSettings: strict,
      plugins: ["BeansCheck"]),
    .executableTarget(name: "StorefrontBeans", dependencies: ["BeansTool", "Storefront"], swiftSettings: strict),

    // Tests.
    .target(name: "CForeignThread", path: "Tests/CForeignThread"),
    .testTarget(name: "BeansLoggingTests", dependencies: ["BeansLogging", "BeansSupport"], swiftSettings: settings),
    .target(
      name: "TestSupport", dependencies: ["BeansErrors", "BeansSupport"], path: "Tests/TestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "BeansReflectionTests", dependencies: ["BeansReflection", "BeansErrors", "CBeansRuntime", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "BeansConfigurationTests",
      dependencies: ["BeansConfiguration", "BeansErrors", "BeansSupport", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "BeansTests", dependencies: ["Beans", "BeansSupport", "BeansLogging", "TestSupport"],
      exclude: ["sizes.txt"], swiftSettings: settings),
    .testTarget(name: "BeansRunningTests", dependencies: ["BeansRunning"], swiftSettings: settings),
    .testTarget(
      name: "SpecificationTests",
      dependencies: [
        "BeansRunning", "Beans", "BeansGraph", "BeansLogging", "BeansTesting", "CForeignThread", "TestSupport",
      ],
      swiftSettings: settings),
    // One file of the specification, compiled as a package with this upcoming feature compiles it.
    .testTarget(
      name: "NonsendingTests", dependencies: ["BeansRunning", "Beans", "TestSupport"],
      swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    .testTarget(
      name: "ModelTests", dependencies: ["BeansSupport", "BeansRunning", "Beans", "BeansLogging", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "BeansJSONTests", dependencies: ["BeansJSON", "Beans", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "BeansYAMLTests", dependencies: ["BeansJSON", "BeansYAML", "Beans", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "BeansXMLTests", dependencies: ["BeansXML", "Beans", "BeansLogging"], swiftSettings: settings),
    .testTarget(
      name: "FaultTests",
      dependencies: [
        "BeansServer", "BeansSessions", "BeansEventLoop", "BeansXML", "BeansRunning", "Beans", "BeansSupport",
        "BeansLogging",
      ],
      exclude: ["faults.txt"], swiftSettings: settings),
    .testTarget(
      name: "SeedExamples",
      dependencies: [
        "BeansOperations", "BeansRedis", "BeansSessions", "BeansServer", "BeansServerTesting", "BeansEventLoop",
        "BeansTesting", "BeansXML", "BeansJSON", "BeansYAML", "BeansRunning", "Beans", "BeansSupport", "BeansLogging",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BeansTestingTests", dependencies: ["BeansTesting", "Beans", "BeansSupport", "TestSupport"],
      swiftSettings: settings),
    .testTarget(name: "BeansEventLoopTests", dependencies: ["BeansEventLoop", "CLibuv"], swiftSettings: settings),
    .testTarget(
      name: "BeansServerTests",
      dependencies: [
        "BeansServer", "BeansSessions", "BeansServerTesting", "BeansEventLoop", "BeansTesting", "BeansJSON",
        "BeansYAML", "BeansRunning", "Beans", "BeansSupport", "BeansLogging", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BeansOperationsTests",
      dependencies: [
        "BeansOperations", "BeansServer", "BeansSessions", "BeansEventLoop", "BeansTesting", "BeansRunning", "Beans",
        "BeansSupport", "BeansLogging", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BeansSessionsTests",
      dependencies: [
        "BeansRedis", "BeansSessions", "BeansServer", "BeansTesting", "BeansEventLoop", "Beans", "BeansSupport",
        "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BeansToolTests", dependencies: ["BeansTool", "Beans", "BeansGraph", "BeansOperations", "Storefront"],
      exclude: ["Golden"], swiftSettings: settings),
    .testTarget(
      name: "StorefrontTests",
      dependencies: [
        "StorefrontServer", "Storefront", "BeansOperations", "BeansSessions", "BeansServer", "BeansTesting",
        "BeansRunning", "Beans", "BeansSupport", "BeansEventLoop", "CSQLite", "TestSupport",
      ],
      swiftSettings: settings),
  ]
)

// Only the named targets of tests. To compile the others takes minutes in release.
if let wanted = Context.environment["BEANS_TESTS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}

// Only the specification and its dependencies, for configurations of CI that test nothing else.
if Context.environment["BEANS_SPECIFICATION_ONLY"] != nil {
  let kept: Set = [
    "BeansPlatform", "BeansErrors", "BeansLogging", "CBeansRuntime", "BeansSupport", "BeansReflection",
    "BeansConfiguration", "Beans", "BeansRunning", "BeansGraph", "BeansTesting", "CForeignThread", "TestSupport",
    "SpecificationTests",
  ]
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { !kept.contains($0.name) }
  // In batches of files, on all cores: the optimization of all tests as one module takes minutes longer and tests nothing more, and
  // a compiler for each file reads all others again.
  let tests = package.targets.first { $0.name == "SpecificationTests" }
  let batches = ["-no-whole-module-optimization", "-enable-batch-mode"]
  tests?.swiftSettings = settings + [.unsafeFlags(batches, .when(configuration: .release))]
}
