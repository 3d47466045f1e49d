// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
]
/// The settings of products, in which every unsafe expression is marked. Tests may omit the marks.
let strict =
  settings + [
    .strictMemorySafety(),  // SE-0458
    // An object may be one of Objective-C there, whose references the fast functions do not count.
    .define("BEANS_ORDINARY_REFERENCES", .when(platforms: [.macOS])),
  ]

let package = Package(
  name: "swift-beans",
  // Not tried yet: on macOS, the modules without libuv are to compile; see the section 'Platforms' of the README.
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "BeansLogging", targets: ["BeansLogging"]),
    .library(name: "Beans", targets: ["Beans"]),
    .library(name: "BeansInject", targets: ["BeansInject"]),
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
    .library(name: "BeansTLS", targets: ["BeansTLS"]),
    .library(name: "BeansTesting", targets: ["BeansTesting"]),
    .plugin(name: "BeansCheck", targets: ["BeansCheck"]),
    .plugin(name: "BeansCommand", targets: ["BeansCommand"]),
  ],
  targets: [
    // C libraries, which stand in the system's own folders. Without `pkgConfig`: SwiftPM would ask for it, and warn, on
    // behalf of packages that use only `Beans`.
    .systemLibrary(name: "CLibuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),

    // The libraries, each depending only on those above it. The first refuses other platforms, before another file fails.
    .target(name: "CBeansRuntime"),
    // The errors of all modules, which `Beans` exports, and the parts that the modules share: the lock, the wait-for graph.
    .target(name: "BeansErrors", dependencies: ["CBeansRuntime"], swiftSettings: strict),
    .target(name: "BeansLogging", dependencies: ["CBeansRuntime"], swiftSettings: strict),
    .target(name: "BeansReflection", dependencies: ["BeansErrors", "CBeansRuntime"], swiftSettings: strict),
    .target(
      name: "BeansConfiguration", dependencies: ["BeansErrors", "BeansLogging", "BeansReflection"],
      swiftSettings: strict),
    .target(
      name: "Beans",
      dependencies: ["BeansErrors", "BeansLogging", "CBeansRuntime", "BeansReflection", "BeansConfiguration"],
      swiftSettings: strict),
    // Locators, and injections that a class declares: apart, because a program with constructor injection needs neither.
    .target(
      name: "BeansInject", dependencies: ["BeansErrors", "BeansReflection", "Beans"],
      swiftSettings: strict),
    // Beans that run and scheduled calls: apart, so that a program without them reads less.
    .target(
      name: "BeansRunning", dependencies: ["BeansErrors", "BeansLogging", "CBeansRuntime", "Beans"],
      swiftSettings: strict),
    // The graph as a value, and the program that the plugins below run.
    .target(name: "BeansGraph", dependencies: ["BeansErrors", "Beans"], swiftSettings: strict),
    // Apart from `BeansXML`, so that a program that reads JSON links neither Foundation nor ICU.
    .target(name: "BeansJSON", dependencies: ["Beans"], swiftSettings: strict),
    .target(name: "BeansYAML", dependencies: ["Beans", "CYAML"], swiftSettings: strict),
    .target(
      name: "BeansXML", dependencies: ["Beans", "BeansJSON", "BeansErrors", "BeansLogging"], swiftSettings: strict),
    // Sessions by id, in memory or in a store, without a loop. Apart from `BeansServer`, because values in a store need Foundation's
    // coders.
    .target(name: "BeansSessions", dependencies: ["BeansLogging", "BeansErrors", "Beans"], swiftSettings: strict),
    .target(name: "BeansEventLoop", dependencies: ["CBeansRuntime", "CLibuv"], swiftSettings: strict),
    .target(
      name: "BeansServer",
      dependencies: ["BeansLogging", "BeansErrors", "Beans", "BeansRunning", "BeansEventLoop"],
      swiftSettings: strict),
    // The store of sessions for several nodes, on event loops: apart, so that sessions in memory need no libuv.
    .target(
      name: "BeansRedis",
      dependencies: ["BeansLogging", "BeansErrors", "Beans", "BeansSessions", "BeansEventLoop"],
      swiftSettings: strict),
    // TLS for connections to servers: apart, so that a program without it links no OpenSSL.
    .target(
      name: "BeansTLS", dependencies: ["Beans", "BeansEventLoop", "BeansRedis", "COpenSSL"], swiftSettings: strict),

    // Probes, metrics, reports and a page, for any HTTP server. It observes loops, sessions and the lifecycle of `BeansServer`,
    // which knows nothing of it.
    .target(
      name: "BeansOperations",
      dependencies: ["BeansLogging", "BeansErrors", "Beans", "BeansRunning", "BeansGraph", "BeansServer"],
      resources: [.embedInCode("Resources")], swiftSettings: strict),

    // For tests of programs that use the container. Only this module imports the testing library of the toolchain.
    .target(name: "BeansTesting", dependencies: ["Beans", "BeansErrors"], swiftSettings: strict),

    // The check of declarations during a build, and the command that reports on them. The plugins run a program of the package
    // that uses them, which depends on `BeansGraph`.
    .executableTarget(name: "beans-place", path: "Sources/BeansPlace"),
    .plugin(name: "BeansCheck", capability: .buildTool(), dependencies: ["beans-place"]),
    .plugin(
      name: "BeansCommand",
      capability: .command(
        intent: .custom(verb: "beans", description: "Answers questions about the beans that a package declares"))),

    // Tests.
    .target(name: "CForeignThread", path: "Tests/CForeignThread"),
    .testTarget(name: "BeansLoggingTests", dependencies: ["BeansLogging", "BeansErrors"], swiftSettings: settings),
    .target(
      name: "TestSupport", dependencies: ["BeansErrors"], path: "Tests/TestSupport", swiftSettings: settings),
    .testTarget(
      name: "BeansReflectionTests", dependencies: ["BeansReflection", "BeansErrors", "CBeansRuntime", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "BeansConfigurationTests", dependencies: ["BeansConfiguration", "BeansErrors", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "BeansTests", dependencies: ["Beans", "BeansErrors", "BeansLogging", "TestSupport"],
      exclude: ["sizes.txt"], swiftSettings: settings),
    .testTarget(
      name: "BeansRunningTests", dependencies: ["BeansRunning", "Beans", "BeansTesting", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "SpecificationTests",
      dependencies: [
        "BeansInject", "BeansRunning", "Beans", "BeansGraph", "BeansLogging", "BeansTesting", "CForeignThread",
        "TestSupport",
      ],
      swiftSettings: settings),
    // One file of the specification, compiled as a package with this upcoming feature compiles it.
    .testTarget(
      name: "NonsendingTests", dependencies: ["BeansRunning", "Beans", "TestSupport"],
      swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    .testTarget(
      name: "ModelTests", dependencies: ["BeansErrors", "BeansRunning", "Beans", "BeansLogging", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "BeansJSONTests", dependencies: ["BeansJSON", "Beans", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "BeansYAMLTests", dependencies: ["BeansJSON", "BeansYAML", "Beans", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "BeansXMLTests", dependencies: ["BeansXML", "BeansInject", "Beans", "BeansLogging"],
      swiftSettings: settings),
    .testTarget(
      name: "FaultTests",
      dependencies: [
        "BeansServer", "BeansSessions", "BeansEventLoop", "BeansXML", "BeansInject", "BeansRunning", "Beans",
        "BeansErrors", "BeansLogging",
      ],
      exclude: ["faults.txt"], swiftSettings: settings),
    .testTarget(
      name: "SeedExamples",
      dependencies: [
        "BeansOperations", "BeansRedis", "BeansTLS", "BeansSessions", "BeansServer", "BeansEventLoop", "BeansTesting",
        "BeansXML", "BeansJSON", "BeansYAML", "BeansInject", "BeansRunning", "Beans", "BeansErrors", "BeansLogging",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BeansTestingTests",
      dependencies: ["BeansTesting", "BeansRunning", "BeansSessions", "Beans", "BeansErrors", "TestSupport"],
      swiftSettings: settings),
    .testTarget(name: "BeansEventLoopTests", dependencies: ["BeansEventLoop", "CLibuv"], swiftSettings: settings),
    .testTarget(
      name: "BeansServerTests",
      dependencies: [
        "BeansServer", "BeansSessions", "BeansEventLoop", "BeansTesting", "BeansJSON", "BeansYAML", "BeansRunning",
        "Beans", "BeansErrors", "BeansLogging", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BeansOperationsTests",
      dependencies: [
        "BeansOperations", "BeansServer", "BeansSessions", "BeansEventLoop", "BeansTesting", "BeansRunning", "Beans",
        "BeansErrors", "BeansLogging", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BeansSessionsTests",
      dependencies: [
        "BeansRedis", "BeansSessions", "BeansServer", "BeansTesting", "BeansEventLoop", "Beans", "BeansErrors",
        "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BeansTLSTests",
      dependencies: [
        "BeansTLS", "BeansRedis", "BeansSessions", "BeansEventLoop", "Beans", "BeansErrors", "COpenSSL", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(name: "BeansGraphTests", dependencies: ["BeansGraph", "Beans"], swiftSettings: settings),
  ]
)

// Only the named targets of tests. To compile the others takes minutes in release.
if let wanted = Context.environment["BEANS_TESTS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}

// Only the specification and its dependencies, for configurations of CI that test nothing else.
if Context.environment["BEANS_SPECIFICATION_ONLY"] != nil {
  let kept: Set = [
    "CBeansRuntime", "BeansErrors", "BeansLogging", "BeansReflection", "BeansConfiguration", "Beans", "BeansInject",
    "BeansRunning", "BeansGraph", "BeansTesting", "CForeignThread", "TestSupport", "SpecificationTests",
  ]
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { !kept.contains($0.name) }
  // In batches of files, on all cores: the optimization of all tests as one module takes minutes longer and tests nothing more, and
  // a compiler for each file reads all others again.
  let tests = package.targets.first { $0.name == "SpecificationTests" }
  let batches = ["-no-whole-module-optimization", "-enable-batch-mode"]
  tests?.swiftSettings = settings + [.unsafeFlags(batches, .when(configuration: .release))]
}
