import CBeansRuntime

/// Bringing near what the passes over all beans of a large graph are about to read.
///
/// What belongs to a bean stands behind several addresses, each of which is known only when what stands at the one
/// before has arrived, and it is too much for the processor to keep all of it near: for one bean after the other, a
/// large graph would spend most of its startup waiting for memory. Here each step is done for several beans before the
/// next one, so that many things are asked for at once. Nothing is retained, compared or settled.
enum ReadAhead {
  /// How many beans are looked at together: what they need fits the nearest memory.
  static var count: Int { 32 }
  /// Where there are fewer, all of them stand near enough.
  private static var least: Int { 4096 }

  static func isWorthwhile(_ count: Int) -> Bool { count > least }

  typealias Some<Object: AnyObject> = UnsafeBufferPointer<Unmanaged<Object>>

  /// For loops over many objects: calls `fetch` now and then, with those at `index` and after it.
  @inline(__always)
  static func each<Object>(_ all: [Object], from index: Int, _ fetch: (Some<Object>) -> Void) {
    if index % count == 0, isWorthwhile(all.count) { some(all[index..<min(index + count, all.count)], fetch) }
  }

  @inline(__always)
  static func some<Object>(_ objects: ArraySlice<Object>, _ fetch: (Some<Object>) -> Void) {
    // An unmanaged reference is a reference that nobody counts.
    objects.withUnsafeBufferPointer { $0.withMemoryRebound(to: Unmanaged<Object>.self, fetch) }
  }

  static func toMakeRecipes(_ definitions: Some<Definition>) {
    for definition in definitions {
      if let constructor = definition._withUnsafeGuaranteedRef({ $0.constructorReference }) {
        fetch(constructor.toOpaque(), 64)
      }
    }
  }

  static func toSettle(_ recipes: Some<Recipe>) {
    for recipe in recipes { recipe._withUnsafeGuaranteedRef { $0.fetchArguments() } }
  }

  private struct Need {
    var hash: UInt32 = 0
    var name: UnsafePointer<IdTable.Name>?
    var definition: Unmanaged<Definition>?
    var recipe: Unmanaged<Recipe>?
  }

  /// The recipes, and what else the beans are that they need by id.
  static func toLink(_ recipes: ArraySlice<Unmanaged<Recipe>>) {
    guard let plan = recipes.first?._withUnsafeGuaranteedRef({ $0.plan }) else { return }
    withUnsafeTemporaryAllocation(of: Need.self, capacity: 2 * count) { needs in
      plan.ids.withView { table in
        var found = 0
        for recipe in recipes { fetch(recipe.toOpaque(), 128) }
        for recipe in recipes {
          recipe._withUnsafeGuaranteedRef {
            fetch(Unmanaged.passUnretained($0.definition).toOpaque(), 128)
            fetch($0.constructor.toOpaque(), 64)
          }
        }
        for recipe in recipes {
          recipe._withUnsafeGuaranteedRef {
            $0.definition.pinned.forEachIdHash { hash in
              if found == needs.count { return }
              table.fetchPlace(of: hash)
              needs.initializeElement(at: found, to: Need(hash: hash))
              found += 1
            }
          }
        }
        for index in 0..<found { needs[index].name = table.fetchName(of: needs[index].hash) }
        for index in 0..<found {
          guard let name = needs[index].name else { continue }
          if let text = name.withMemoryRebound(to: StringWords.self, capacity: 1, { $0.pointee.object }) { beans_fetch(text) }
          needs[index].definition = name.pointee.definition
          if let definition = needs[index].definition { fetch(definition.toOpaque(), 56) }
        }
        for index in 0..<found {
          needs[index].recipe = needs[index].definition?._withUnsafeGuaranteedRef { $0.recipeReference }
          if let recipe = needs[index].recipe { fetch(recipe.toOpaque(), 32) }
        }
        for index in 0..<found {
          if let edge = needs[index].recipe?._withUnsafeGuaranteedRef({ $0.edgeReference }) {
            fetch(edge.toOpaque(), 24)
          }
        }
      }
    }
  }

  /// So many bytes of an object, from its beginning.
  @inline(__always)
  static func fetch(_ object: UnsafeRawPointer, _ bytes: Int) {
    for offset in stride(from: 0, to: bytes, by: 64) { beans_fetch(object + offset) }
    // It may begin anywhere in a cache line.
    beans_fetch(object + (bytes - 1))
  }
}
