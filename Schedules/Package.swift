// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because its build differs: `-Xswiftc -DBEANS_SCHEDULES`, as `scripts/schedules` says.
let package = Package(
  name: "Schedules",
  dependencies: [.package(name: "swift-beans", path: "..")],
  targets: [
    .testTarget(
      name: "ScheduleTests",
      dependencies: [.product(name: "Beans", package: "swift-beans")],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)
