import Foundation
import PackagePlugin

/// An executable target that depends on `BeansGraph` and calls `BeansTool.run`.
struct Program {
  /// The name of the built product.
  let name: String
  private let target: SwiftSourceModuleTarget

  struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// - Throws: `Fault` where there is none.
  static func all(in package: Package) throws -> [Program] {
    let executables = package.targets.compactMap { $0 as? SwiftSourceModuleTarget }.filter { target in
      target.kind == .executable && runsTool(target)
        && target.dependencies.contains { dependency in
          switch dependency {
          case .product(let product): product.name == "BeansGraph"
          case .target(let target): target.name == "BeansGraph"
          @unknown default: false
          }
        }
    }
    if executables.isEmpty {
      throw Fault(
        "no executable target of \(package.displayName) depends on the product BeansGraph of swift-beans and calls BeansTool.run"
      )
    }
    return executables.map { target in
      let product = package.products.first { ($0 as? ExecutableProduct)?.mainTarget.id == target.id }
      return Program(name: product?.name ?? target.name, target: target)
    }
  }

  /// Whether the sources call `BeansTool.run`: a service that draws its graph depends on `BeansGraph`, too.
  private static func runsTool(_ target: SwiftSourceModuleTarget) -> Bool {
    target.sourceFiles(withSuffix: ".swift").contains { file in
      (try? String(contentsOf: file.url, encoding: .utf8))?.contains("BeansTool.run") == true
    }
  }

  func uses(_ other: any Target) -> Bool {
    target.id == other.id || target.recursiveTargetDependencies.contains { $0.id == other.id }
  }

  private var modules: [SwiftSourceModuleTarget] {
    ([target] + target.recursiveTargetDependencies).compactMap { $0 as? SwiftSourceModuleTarget }
  }

  /// The files beside the sources of its modules that are compiled into nothing, such as XML documents: the
  /// declarations may read them.
  var documents: [URL] {
    modules.flatMap { $0.sourceFiles.filter { $0.type == .resource || $0.type == .unknown }.map(\.url) }
  }

  /// The folders of the sources of its modules.
  var moduleArguments: [String] {
    modules.flatMap { ["--module", "\($0.moduleName)=\($0.directoryURL.path())"] }
  }
}
