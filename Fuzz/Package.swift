// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the libraries never resolve or build it.
let package = Package(
  name: "Fuzz",
  dependencies: [.package(name: "swift-beans", path: "..")],
  targets: [
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        .product(name: "Beans", package: "swift-beans"),
        .product(name: "BeansLogging", package: "swift-beans"),
        .product(name: "BeansJSON", package: "swift-beans"),
        .product(name: "BeansYAML", package: "swift-beans"),
        .product(name: "BeansXML", package: "swift-beans"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)
