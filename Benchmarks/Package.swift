// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// A package of its own, so that users of the libraries never resolve or build it.
let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "swift-beans", path: "..")],
  targets: [
    .target(name: "CMeasure"),
    // A thousand classes, in a module of their own because they take long to compile.
    .target(
      name: "ColdStart", dependencies: [.product(name: "Beans", package: "swift-beans")], swiftSettings: settings),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CMeasure", "ColdStart",
        .product(name: "Beans", package: "swift-beans"),
        .product(name: "BeansEventLoop", package: "swift-beans"),
        .product(name: "BeansServer", package: "swift-beans"),
        .product(name: "BeansXML", package: "swift-beans"),
      ],
      swiftSettings: settings),
    // Sessions in memory and in Redis, with and without TLS: a program of its own, since it links OpenSSL.
    .target(name: "CSecureSocket", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .executableTarget(
      name: "SessionBenchmarks",
      dependencies: [
        "CSecureSocket",
        .product(name: "Beans", package: "swift-beans"),
        .product(name: "BeansEventLoop", package: "swift-beans"),
        .product(name: "BeansRedis", package: "swift-beans"),
        .product(name: "BeansSessions", package: "swift-beans"),
        .product(name: "BeansTLS", package: "swift-beans"),
      ],
      swiftSettings: settings),
    // The minimal server on the same libraries, in C: `scripts/bench-http` compares the service with it.
    .executableTarget(
      name: "HealthServer", linkerSettings: [.linkedLibrary("uv"), .linkedLibrary("http_parser")]),
  ]
)
