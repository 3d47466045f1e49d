// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]
/// The settings of the service, in which every unsafe expression is marked. Tests may omit the marks.
let strict = settings + [.strictMemorySafety()]

func beans(_ product: String) -> Target.Dependency { .product(name: product, package: "swift-beans") }

// A package of its own, as that of a user. A copy of it elsewhere names another path, or a URL and a version.
let package = Package(
  name: "Storefront",
  // Its HTTP server, for Examples/Appointments.
  products: [.library(name: "Storefront", targets: ["Storefront"])],
  dependencies: [.package(name: "swift-beans", path: "../..")],
  targets: [
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CHTTPParser", providers: [.apt(["libhttp-parser-dev"])]),

    // Everything but the start is a library, so that the other program can link the declarations.
    .target(
      name: "Storefront",
      dependencies: [
        beans("BeansOperations"), beans("BeansRedis"), beans("BeansSessions"), beans("BeansServer"),
        beans("BeansEventLoop"), beans("BeansJSON"), beans("Beans"), beans("BeansLogging"),
        "CSQLite", "CHTTPParser",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "StorefrontServer", dependencies: ["Storefront"], exclude: ["storefront.json"], swiftSettings: strict,
      plugins: [.plugin(name: "BeansCheck", package: "swift-beans")]),
    .executableTarget(
      name: "StorefrontBeans", dependencies: [beans("BeansGraph"), beans("Beans"), "Storefront"], swiftSettings: strict),

    .testTarget(
      name: "StorefrontTests",
      dependencies: [
        "StorefrontServer", "StorefrontBeans", "Storefront", beans("BeansOperations"), beans("BeansSessions"),
        beans("BeansServer"), beans("BeansTesting"), beans("Beans"), beans("BeansLogging"), beans("BeansEventLoop"),
        "CSQLite",
      ],
      exclude: ["Graph/Golden"], swiftSettings: settings),
  ]
)
