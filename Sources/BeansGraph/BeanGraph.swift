public import Beans

/// The beans that are declared in an environment, further out and for the children of factories, with the dependencies
/// of each.
///
/// A value: `Environment.graph()` makes one, and nothing that happens later changes it. Clusters are ordered from the
/// outside in, nodes by definition, edges by the nodes that they start from, so that equal declarations make equal
/// graphs and equal text.
public struct BeanGraph: Sendable, Equatable, Codable {
  /// The environments.
  public let clusters: [Cluster]
  /// The declarations.
  public let nodes: [Node]
  /// The dependencies between the declarations.
  public let edges: [Edge]

  init(clusters: [Cluster], nodes: [Node], edges: [Edge]) {
    (self.clusters, self.nodes, self.edges) = (clusters, nodes, edges)
  }

  /// One environment, or all children of one factory.
  public struct Cluster: Sendable, Equatable, Codable {
    /// The names of the environment and of those around it, from the outside in, separated by slashes.
    public let id: String
    /// The name of the environment; for the children of a factory, their scope.
    public let name: String
    /// The id of the enclosing cluster.
    public let parent: String?
    /// The scope that the children of a factory open; nil for an environment that is no child of a factory.
    public let scope: String?
    /// The reason why the children of the factory are inactive; nil if they are active.
    package let inactive: String?
  }

  /// One declaration: a bean, or a declaration without an instance, such as a template.
  public struct Node: Sendable, Equatable, Codable {
    /// A property of a declaration besides its scope. More may follow.
    public enum Flag: String, Sendable, Codable {
      /// An abstract declaration: others inherit from it, and it is never built.
      case template
      /// The value that each child of a factory is built from.
      case seed
      /// A bean that is built at its first lookup.
      case lazy
      /// A bean that is created asynchronously.
      case asynchronous
      /// A decorator: wraps another bean.
      case decorator
      /// The preferred bean among others of its type.
      case primary
      /// A bean that only declarations of its module find.
      case `private`
      /// A bean that makes another bean.
      case factory
      /// A bean that another bean makes.
      case product
      /// A bean that works as long as its environment: a `RunnableBean`.
      case running
      /// A bean with a schedule.
      case scheduled
    }

    /// The cluster and the label; the later ones of several equal ids end in a number.
    public let id: String
    /// The name in faults and reports: the type, and the bean's own id if it has one.
    public let label: String
    /// The bean's own id.
    package let beanId: String?
    /// The type with its module; nil for a template without a class.
    public let type: String?
    /// The id of the cluster that declares it.
    public let environment: String
    /// The name of the scope.
    public let scope: String
    /// The place of the declaration.
    public let origin: EnvironmentError.Origin?
    /// The properties besides the scope, in the order of `Flag`.
    public let flags: [Flag]
    /// The condition that is not met; nil if the declaration is active.
    public let inactive: String?
    /// The types that the bean takes where there is one and that no bean has, as text; nil if there are none.
    public let absent: [String]?
  }

  /// One dependency.
  public struct Edge: Sendable, Hashable, Codable {
    /// The way in which a bean takes another one. More may follow.
    public enum Kind: String, Sendable, Codable {
      /// A parameter of the factory.
      case parameter
      /// A property.
      case property
      /// An optional, which may be missing.
      case optional
      /// One of all beans of a type, or an element of a collection.
      case collection
      /// A bean that is resolved at its first use.
      case lazy
      /// A bean that its taker owns and releases.
      case owned
      /// A bean that a `Provider` resolves at each call.
      case provider
      /// A bean of the current child environment, by a `Current`.
      case current
      /// No reference: the required bean only has to be built first.
      case requirement
      /// The bean that a decorator wraps.
      case decorates
      /// The factory that makes the bean.
      case factory
      /// The declaration that the bean inherits from.
      case template

      /// Whether a dependency of this kind retains the taken bean.
      package var keeps: Bool {
        switch self {
        case .parameter, .property, .optional, .collection, .lazy, .owned, .decorates: true
        case .provider, .current, .requirement, .factory, .template: false
        }
      }
    }

    /// The id of the node that takes the other one.
    public let from: String
    /// The id of the taken node.
    public let to: String
    /// The kind of the dependency.
    public let kind: Kind
    /// The place of the dependency: "parameter 0", "property 'store'"; empty if the kind is sufficient.
    public let label: String
  }
}
