import CBeansRuntime

/// What linking is going to read of the beans that some recipes need, brought near.
///
/// A bean that is needed by its id may stand anywhere in memory, behind several addresses, each of which is known only
/// when what stands at the one before has arrived. For one bean after the other, a large graph would spend most of its
/// startup waiting for that. Here each step is done for all of the recipes before the next one, so that memory is asked
/// for many things at once. Nothing is retained, compared or settled.
enum ReadAhead {
  /// How many recipes are looked at together: what they need fits the nearest memory.
  static var count: Int { 16 }
  /// Where there are fewer, all of them stand near enough.
  static var least: Int { 4096 }

  private struct Need {
    var hash: UInt32 = 0
    var name: UnsafePointer<IdTable.Name>?
    var definition: Unmanaged<Definition>?
    var recipe: Unmanaged<Recipe>?
  }

  /// The recipes, and all that the tables of their plan name, live at least until this returns.
  static func fetch(neededBy recipes: ArraySlice<Unmanaged<Recipe>>) {
    guard let plan = recipes.first?._withUnsafeGuaranteedRef({ $0.plan }) else { return }
    withUnsafeTemporaryAllocation(of: Need.self, capacity: 2 * count) { needs in
      plan.ids.withView { table in
        var found = 0
        for recipe in recipes { fetch(recipe.toOpaque()) }
        for recipe in recipes {
          recipe._withUnsafeGuaranteedRef {
            fetch(Unmanaged.passUnretained($0.definition).toOpaque(), to: 128)
            fetch($0.constructor.toOpaque())
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
          beans_fetch(name.withMemoryRebound(to: StringWords.self, capacity: 1) { $0.pointee.text })
          needs[index].definition = name.pointee.definition
          if let definition = needs[index].definition { fetch(definition.toOpaque()) }
        }
        for index in 0..<found {
          needs[index].recipe = needs[index].definition?._withUnsafeGuaranteedRef { $0.recipeReference }
          if let recipe = needs[index].recipe { fetch(recipe.toOpaque()) }
        }
        for index in 0..<found {
          if let edge = needs[index].recipe?._withUnsafeGuaranteedRef({ $0.edgeReference }) { fetch(edge.toOpaque()) }
        }
      }
    }
  }

  /// The beginning of an object, which may stand in two cache lines.
  @inline(__always)
  private static func fetch(_ object: UnsafeMutableRawPointer, to end: Int = 64) {
    beans_fetch(object)
    beans_fetch(object + 63)
    if end > 64 { beans_fetch(object + 127) }
  }
}
