extension BeanDeclaration {
  /// What few declarations say. Apart from the declaration, so that thousands of plain ones are small, and quickly made
  /// and let go of.
  final class Details {
    /// What the declaration says is wrong with itself.
    @exclusivity(unchecked) var fault: String?
    /// The same, about single properties.
    @exclusivity(unchecked) var propertyFaults: [String] = []
    @exclusivity(unchecked) var template: String?
    @exclusivity(unchecked) var requirements: [Requirement] = []
    @exclusivity(unchecked) var stated: [Any.Type] = []
    /// What a factory bean makes.
    @exclusivity(unchecked) var target: Any.Type?
    /// In the order they were set.
    @exclusivity(unchecked) var properties: [PropertyInjection] = []
    @exclusivity(unchecked) var postConstructs: [BeanCallback] = []
    @exclusivity(unchecked) var onDestroys: [BeanCallback] = []
    /// The callbacks that startup found for the bean, those of its templates included.
    @exclusivity(unchecked) var callbacks: [BeanCallback] = []
  }
}
