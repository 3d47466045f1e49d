// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

func beans(_ product: String) -> Target.Dependency { .product(name: product, package: "swift-beans") }

// A package of its own, as that of a user. A copy of it elsewhere names another path, or a URL and a version.
let package = Package(
  name: "Appointments",
  products: [.library(name: "Appointments", targets: ["Appointments"])],
  dependencies: [.package(name: "swift-beans", path: "../.."), .package(path: "../Storefront")],
  targets: [
    // The service, without a server: the program on Hummingbird links it, too.
    .target(
      name: "Appointments",
      dependencies: [beans("Beans"), beans("BeansLogging"), beans("BeansRunning"), beans("BeansSessions")],
      swiftSettings: settings),
    // The service on the HTTP server of the example shop.
    .executableTarget(
      name: "AppointmentsServer",
      dependencies: [
        "Appointments", beans("Beans"), beans("BeansEventLoop"), beans("BeansJSON"), beans("BeansRunning"),
        .product(name: "Storefront", package: "Storefront"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "AppointmentsTests",
      dependencies: [
        "Appointments", "AppointmentsServer", beans("Beans"), beans("BeansJSON"), beans("BeansRunning"),
        beans("BeansSessions"), beans("BeansTesting"),
      ],
      swiftSettings: settings),
  ]
)
