extension ScenarioSwift {
  /// Returns the common part of all printed programs: beans that report their lives, as `Node` and `Recorder` do.
  static func support(_ scenario: Scenario) -> String {
    let prototypes = ReferenceRules(scenario).beans.joined().filter(\.isPrototype).map(\.number)
    return """
      /// The numbers of prototypes' declarations, which are their lines: d3 has `file: "d", line: 3`.
      let prototypes: Set<Int> = \(prototypes)
      // One thread uses these.
      nonisolated(unsafe) var environments: [Environment?] = []
      nonisolated(unsafe) var calls: [Int: Int] = [:]
      nonisolated(unsafe) var made = 0
      nonisolated(unsafe) var live = 0

      class Node: Bean, DisposableBean {
        /// The declaration whose factory has created the bean.
        let factory: Int
        /// The declaration of the bean, then the one that has completed it.
        private(set) var declaration = 0
        private(set) var owner = 0
        private(set) var name = "?"
        private(set) var given: [Any?]
        var isTaken = false
        var isPrototype = false
        /// Whether it is a prototype that a bean in a slot or in a scope has for its object.
        var isKept = false
        private var decorated: Node?

        init(_ factory: Int, _ given: Any?...) {
          (self.factory, self.given) = (factory, given)
          live += 1
        }

        func belonging(to declaration: Int, around inner: Any? = nil) -> Self {
          (self.declaration, decorated) = (declaration, inner as? Node)
          return self
        }

        func postConstruct() {
          if name != "?" { print("\\(name) is completed again") }
          let list = given.map { " " + take($0) }.joined()
          given.removeAll { $0 is Environment }
          owner = declaration
          isPrototype = decorated.map { $0.isPrototype && !$0.isKept } ?? prototypes.contains(declaration)
          if isPrototype {
            name = "d\\(declaration){\\(list)}"
            print("~ \\(name) by d\\(factory)")
          } else {
            made += 1
            name = "#\\(made)"
            print("\\(name) is d\\(declaration) by d\\(factory)\\(list)")
          }
        }

        func preDestroy() { print("\\(name) is released") }

        deinit { live -= 1 }
      }

      final class Mill: Node, FactoryBean {
        private var make: (([Any?]) throws -> Node)?

        func making(_ make: @escaping ([Any?]) throws -> Node) -> Self {
          self.make = make
          return self
        }

        func create() throws -> AnyObject { try make!(given) }
      }

      func hand<T>(on bean: T, by declaration: Int, isDecorator: Bool = false) -> T {
        let node = bean as! Node
        print("~ d\\(declaration) returns \\(node.name)")
        if !isDecorator, !prototypes.contains(declaration) { node.isKept = true }
        return bean
      }

      func complete(_ bean: Any, by declaration: Int) {
        let node = bean as! Node
        print((node.isPrototype ? "~ " : "") + "d\\(declaration) completes \\(node.name)")
      }

      func letGo(of bean: Any, by declaration: Int) {
        print("d\\(declaration) lets go of \\((bean as! Node).name)")
      }

      protocol Seed { var number: Int { get } }
      protocol AnyProvider { func bean() throws -> Any }
      extension Provider: AnyProvider { func bean() throws -> Any { try get() } }
      protocol AnyLazy { func lateBean() throws -> Any }
      extension Lazy: AnyLazy { func lateBean() throws -> Any { try get() } }
      protocol AnyOwned {
        func bean() throws -> Any
        func giveBack() throws
      }
      extension Owned: AnyOwned {
        func bean() throws -> Any { try get() }
        func giveBack() throws { try release() }
      }
      struct Failure: Error {}

      /// Says what is handed to somebody.
      func take(_ value: Any?) -> String {
        switch value {
        case nil: return "nil"
        case let bean as Node:
          if bean.isPrototype && !bean.isKept && bean.isTaken { print("\\(bean.name) is handed out twice") }
          if bean.declaration != bean.owner {
            print("\\(bean.name) of d\\(bean.owner) is set by d\\(bean.declaration)")
          }
          bean.isTaken = true
          return bean.name
        case let beans as [Node]: return "[" + beans.map { take($0) }.joined(separator: " ") + "]"
        case is any AnyProvider: return "provider"
        case is any AnyLazy: return "lazy"
        case let owned as any AnyOwned: return "owned " + ((try? owned.bean()).map { take($0) } ?? "released")
        case let seed as any Seed: return "seed \\(seed.number)"
        case let environment as Environment:
          return "environment \\(environments.firstIndex { $0 === environment } ?? -1)"
        default: return "?"
        }
      }

      func fail(_ declaration: Int, first failures: Int) throws {
        calls[declaration, default: 0] += 1
        guard calls[declaration]! <= failures else { return }
        print("d\\(declaration) throws")
        throw Failure()
      }

      /// Says what the body throws: for a machine, then for people.
      @discardableResult func attempt<T>(_ body: () throws -> T?) -> T? {
        do { return try body() } catch let error as EnvironmentError {
          let faults = error.code == .startupFailed ? error.underlying.compactMap { $0 as? EnvironmentError } : [error]
          print("fault", faults.map { "\\($0.code)@" + ($0.origin.flatMap { $0.file == "d" ? "d\\($0.line)" : nil } ?? "-") }.joined(separator: " "))
          for line in "\\(error)".split(separator: "\\n") { print("  \\(line)") }
        } catch { print("unexpected \\(error)") }
        return nil
      }

      func look(
        in environment: Environment?, whileCurrent current: Environment? = nil, callsProviders: Bool = false,
        givesBack: Bool = false, _ lookup: (Environment) throws -> Any?
      ) {
        guard let environment else { return }
        Environment.$current.withValue(current) {
          attempt {
            let found = try lookup(environment)
            print("found \\(take(found))")
            if givesBack {
              let owned = found is any AnyOwned ? [found] : (found as? Node)?.given ?? []
              for case let owned as any AnyOwned in owned { attempt { try owned.giveBack() } }
            }
            guard callsProviders, let bean = found as? Node else { return }
            for value in bean.given {
              if let provider = value as? any AnyProvider {
                attempt { print("provided \\(take(try provider.bean()))") }
              }
              if let lazy = value as? any AnyLazy {
                attempt { print("lazily \\((try lazy.lateBean() as! Node).name)") }
              }
            }
          }
        }
      }

      func printStatistics() {
        for count in (environments[0]?.statistics() ?? []).sorted(by: { $0.scope < $1.scope }) {
          print(
            "\\(count.scope): opened \\(count.opened) finished \\(count.finished) "
              + "created \\(count.created) released \\(count.released)")
        }
      }
      """
  }
}
