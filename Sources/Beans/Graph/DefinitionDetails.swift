extension Definition {
  /// What few beans have. Apart from the definition, so that thousands of plain ones are small, and quickly made and let
  /// go of.
  final class Details {
    /// The factory bean that makes this one.
    @exclusivity(unchecked) var maker: Definition?
    /// What a factory bean makes.
    @exclusivity(unchecked) var product: Definition?
    @exclusivity(unchecked) var properties: [PropertyInjection] = []
    /// What the class itself has injections for, as far as the declaration is silent.
    @exclusivity(unchecked) var injections: [ClassInjection] = []
    @exclusivity(unchecked) var requirements: [BeanDeclaration.Requirement] = []
    @exclusivity(unchecked) var postConstructs: [BeanCallback] = []
    @exclusivity(unchecked) var onDestroys: [BeanCallback] = []
    @exclusivity(unchecked) var stated: [Any.Type] = []
    /// What the declaration gives and startup has to settle, in the order found.
    @exclusivity(unchecked) var fixedValues: [FixedValue] = []
    @exclusivity(unchecked) var fixedValuesByPlace: [String: FixedValue] = [:]

    init() {}

    /// Of a declaration and its templates, nearest first.
    convenience init(_ chain: [BeanDeclaration]) {
      self.init()
      for declaration in chain.reversed() {
        for property in declaration.properties { properties.set(property) }
        requirements += declaration.requirements
        if !declaration.postConstructs.isEmpty { postConstructs = declaration.postConstructs }
        if !declaration.onDestroys.isEmpty { onDestroys = declaration.onDestroys }
      }
      // What a template states is checked for its own class only.
      stated = chain.first?.stated ?? []
    }
  }
}
