import BeansErrors

/// Finds classes by their names in source.
package enum ClassName {
  private static let exported = ["BeansConfiguration", "BeansErrors", "BeansReflection"]

  /// Returns the class of that name. Throws `.unknownClass` with the near misses.
  package static func find(_ name: String) throws -> AnyClass {
    guard RuntimeLayout.hasDescriptors else { return try findByFullPath(name) }
    let types = named(name)
    let candidates = types.filter { $0.path == name || $0.path.hasSuffix("." + name) }
    // The full path is the name of one type only, and a top-level type of a module shadows nested ones.
    let depth = candidates.filter { $0.descriptor.kind == .class }.map(\.names.count).min()
    let classes = candidates.filter { $0.descriptor.kind == .class && $0.names.count == depth }
    if classes.count > 1 {
      throw unknown(name, .ambiguousClass, "is the name of several classes: \(list(classes))")
    }
    guard let found = classes.first else {
      if let other = candidates.first {
        throw unknown(name, .noClass, "is no class: \(other.path) is \(other.kindName)")
      }
      throw unknown(name, .unknownClass, "is no class in this program\(hint(name))")
    }
    guard let type = found.type else {
      throw unknown(name, .genericClass, "is generic: such a class cannot be named, a subclass of it can")
    }
    return type
  }

  /// Returns the class of that full path, for classes at the top of a module or in other classes, without a search of
  /// the loaded images.
  static func findByFullPath(_ path: String) throws -> AnyClass {
    let names = path.split(separator: ".", omittingEmptySubsequences: false)
    let isPlain = path.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_" || $0 == ".")
    }
    if isPlain, let module = names.first {
      let classes = names.dropFirst().map { "\($0.utf8.count)\($0)C" }.joined()
      for module in [String(module)] + (module == "Beans" ? exported : []) {
        if let type = _typeByName("\(module.utf8.count)\(module)\(classes)") as? AnyClass { return type }
      }
    }
    throw unknown(path, .unknownClass, "is no class in this program; only the full path of one is understood here")
  }

  /// A type or protocol of the program.
  struct Named {
    let descriptor: ContextDescriptor

    var kindName: String {
      switch descriptor.kind {
      case .struct: "a struct"
      case .enum: "an enum"
      case .protocol: "a protocol"
      default: "no class"
      }
    }

    /// The names of the module, of the enclosing types and of the type itself.
    var names: [String] {
      var names = descriptor.names
      // Users know the modules that `Beans` re-exports as part of `Beans`.
      if let module = names.last, ClassName.exported.contains(module) { names[names.count - 1] = "Beans" }
      return names.reversed()
    }

    var path: String { names.joined(separator: ".") }

    /// The class; nil for generic classes.
    var type: AnyClass? { descriptor.type as? AnyClass }
  }

  /// Returns the types whose own name is the last part of `name`.
  private static func named(_ name: String) -> [Named] {
    guard let last = name.split(separator: ".", omittingEmptySubsequences: false).last, !last.isEmpty,
      !last.utf8.contains(0)
    else { return [] }
    return search(String(last))
  }

  /// Returns the types of that own name, or all.
  private static func search(_ name: String?) -> [Named] { ContextDescriptor.all(named: name).map(Named.init) }

  private static func hint(_ name: String) -> String {
    guard name.utf8.count < 200 else { return "" }
    let isQualified = name.contains(".")
    let paths = search(nil).filter { $0.descriptor.kind == .class }.map(\.path)
    let near = Set(
      paths.filter { path in
        let end = path.split(separator: ".").last.map { String($0) } ?? ""
        return EditDistance.isSmall(path, name) || !isQualified && EditDistance.isSmall(end, name)
      })
    return near.isEmpty ? "" : "; did you mean \(near.sorted().prefix(5).joined(separator: " or "))?"
  }

  private static func list(_ types: [Named]) -> String {
    let paths = types.map(\.path).sorted()
    return Set(paths).count == 1
      ? "\(paths.count) times \(paths[0]), private to files or functions"
      : paths.prefix(10).joined(separator: ", ")
  }

  private static func unknown(_ name: String, _ cause: FaultCause, _ reason: String) -> EnvironmentError {
    EnvironmentError(cause: cause, "'\(name.prefix(200))' \(reason)")
  }
}
