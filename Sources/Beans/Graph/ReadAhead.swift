import CBeansRuntime

/// Bringing near what linking a large graph is about to read.
///
/// What belongs to a bean stands behind several addresses, each of which is known only when what stands at the one
/// before has arrived, and all of it together is too much for the processor to keep near: for one bean after the other,
/// a large graph would spend most of its startup waiting for memory. Here each step is done for several beans before
/// the next one, so that many things are asked for at once. Nothing is retained, compared or settled.
enum ReadAhead {
  /// How many beans are looked at together: what they need fits the nearest memory.
  static var count: Int { 16 }

  /// Where there are few, all of them stand near enough.
  static func isWorthwhile(_ beans: Int) -> Bool { beans > 4096 }

  // MARK: recipes to be made

  /// For a loop that makes a recipe of each definition, at each index.
  @inline(__always)
  static func toMakeRecipes(of definitions: [Definition], from index: Int) {
    if index % count == 0, isWorthwhile(definitions.count) {
      fetchConstructors(of: definitions[index...].prefix(count))
    }
  }

  @inline(never)
  private static func fetchConstructors(of definitions: ArraySlice<Definition>) {
    definitions.withUnsafeBufferPointer {
      // An unmanaged reference is a reference that is not counted.
      $0.withMemoryRebound(to: Unmanaged<Definition>.self) { definitions in
        for definition in definitions {
          if let constructor = definition._withUnsafeGuaranteedRef({ $0.constructorReference }) {
            fetch(constructor.toOpaque(), 64)
          }
        }
      }
    }
  }

  // MARK: recipes to be linked

  /// A bean that is needed by its id, as far as it is known.
  private struct Need {
    var hash: UInt32 = 0
    var name: UnsafePointer<IdTable.Name>?
    var definition: Unmanaged<Definition>?
    var recipe: Unmanaged<Recipe>?
  }

  /// The recipes, and what the beans consist of that they need by id. The plan holds all of them.
  @inline(never)
  static func toLink(_ recipes: ArraySlice<Unmanaged<Recipe>>) {
    guard let plan = recipes.first?._withUnsafeGuaranteedRef({ $0.plan }) else { return }
    for recipe in recipes { fetch(recipe.toOpaque(), 128) }
    for recipe in recipes {
      recipe._withUnsafeGuaranteedRef {
        fetch(Unmanaged.passUnretained($0.definition).toOpaque(), 128)
        fetch($0.constructor.toOpaque(), 64)
      }
    }
    withUnsafeTemporaryAllocation(of: Need.self, capacity: 2 * count) { needs in
      plan.ids.withView { table in
        var found = 0
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
        fetch(UnsafeMutableBufferPointer(rebasing: needs[..<found]), table)
      }
    }
  }

  @inline(__always)
  private static func fetch(_ needs: UnsafeMutableBufferPointer<Need>, _ table: IdTable.View) {
    for index in needs.indices { needs[index].name = table.fetchName(of: needs[index].hash) }
    for index in needs.indices {
      guard let name = needs[index].name else { continue }
      // The id stands first, and is about to be retained.
      if let text = name.withMemoryRebound(to: StringWords.self, capacity: 1, { $0.pointee.object }) { fetch(text, 16) }
      needs[index].definition = name.pointee.definition
      if let definition = needs[index].definition { fetch(definition.toOpaque(), 56) }
    }
    for index in needs.indices {
      needs[index].recipe = needs[index].definition?._withUnsafeGuaranteedRef { $0.recipeReference }
      if let recipe = needs[index].recipe { fetch(recipe.toOpaque(), 64) }
    }
    for index in needs.indices {
      if let edge = needs[index].recipe?._withUnsafeGuaranteedRef({ $0.edgeReference }) { fetch(edge.toOpaque(), 24) }
    }
  }

  /// So many bytes of an object, from its beginning.
  @inline(__always)
  private static func fetch(_ object: UnsafeRawPointer, _ bytes: Int) {
    for offset in stride(from: 0, to: bytes, by: 64) { beans_fetch(object + offset) }
    // It may begin anywhere in a cache line.
    beans_fetch(object + (bytes - 1))
  }
}
