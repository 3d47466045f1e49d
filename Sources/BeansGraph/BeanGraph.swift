public import Beans

/// Which beans are declared in an environment, further out and for the children of factories, and what each of them takes.
///
/// A value: `Environment.graph()` makes one, and nothing that happens later changes it. Clusters stand from the outside in,
/// nodes in order of definition, edges in the order of the nodes that they start from, so that equal declarations make equal
/// graphs and equal text.
public struct BeanGraph: Sendable, Hashable, Codable {
  /// The environments.
  public let clusters: [Cluster]
  /// The declarations.
  public let nodes: [Node]
  /// What they take.
  public let edges: [Edge]

  init(clusters: [Cluster], nodes: [Node], edges: [Edge]) {
    (self.clusters, self.nodes, self.edges) = (clusters, nodes, edges)
  }

  /// One environment, or all children of one factory.
  public struct Cluster: Sendable, Hashable, Codable, Identifiable {
    /// The names of the environment and of those around it, from the outside in, separated by slashes.
    public let id: String
    /// What the environment is called: the children of a factory, by their scope.
    public let name: String
    /// The cluster around this one.
    public let parent: String?
    /// The scope that the children of a factory open; nil for an environment that is no child of a factory.
    public let scope: String?
    /// Why the children of the factory do not count; nil where they do.
    public let inactive: String?
  }

  /// One declaration: a bean, or what is none, such as a template.
  public struct Node: Sendable, Hashable, Codable, Identifiable {
    /// What a declaration is beside a bean of its scope. More may follow.
    public enum Flag: String, Sendable, Hashable, Codable, CaseIterable {
      /// It is abstract: others inherit from it, and it is never built.
      case template
      /// The value that each child of a factory is built from.
      case seed
      /// It is built when it is first asked for.
      case lazy
      /// It is created asynchronously.
      case asynchronous
      /// It stands before another bean.
      case decorator
      /// It is preferred to others of its type.
      case primary
      /// Only declarations of its module find it.
      case `private`
      /// It makes another bean.
      case factory
      /// Another bean makes it.
      case product
    }

    /// The cluster and the label; of several that have both in common, the later ones with a number.
    public let id: String
    /// How faults and reports name it: its type, and its own id if it has one.
    public let label: String
    /// The bean's own id.
    public let beanId: String?
    /// The type with its module; nil for a template without a class.
    public let type: String?
    /// The id of the cluster that declares it.
    public let environment: String
    /// How long an instance lives.
    public let scope: String
    /// Where it is declared.
    public let origin: EnvironmentError.Origin?
    /// What it is beside that, in the order of `Flag`.
    public let flags: [Flag]
    /// Which condition does not hold; nil where the declaration counts.
    public let inactive: String?
  }

  /// One dependency.
  public struct Edge: Sendable, Hashable, Codable {
    /// How a bean takes another one. More may follow.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
      /// As a parameter of its factory.
      case parameter
      /// As a property.
      case property
      /// As one that may be missing.
      case optional
      /// As one of all, or as part of a collection.
      case collection
      /// When it is first used.
      case lazy
      /// For itself, to be released by it.
      case owned
      /// Each time anew, by a `Provider`.
      case provider
      /// From the child environment that is current, by a `Current`.
      case current
      /// Not at all: it only has to be there before.
      case requirement
      /// As what it stands before.
      case decorates
      /// As the factory that makes it.
      case factory
      /// As the declaration that it inherits from.
      case template

      /// Whether a bean that takes another one so keeps it.
      public var keeps: Bool {
        switch self {
        case .parameter, .property, .optional, .collection, .lazy, .owned, .decorates: true
        case .provider, .current, .requirement, .factory, .template: false
        }
      }
    }

    /// The id of the node that takes.
    public let from: String
    /// The id of the node that is taken.
    public let to: String
    /// How.
    public let kind: Kind
    /// Where: "parameter 0", "property 'store'"; empty where the kind says it all.
    public let label: String
  }
}
