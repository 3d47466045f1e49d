// Marked listings stand in the catalogue to the letter: see ListingTests.swift.

// listing
import Beans
import BeansYAML

// end

struct BeansYAMLCatalogue {
  // continued
  func addFile(_ path: String, to environment: Environment) throws {
    try environment.addConfigurationSource(YAMLConfigurationSource(path: path))
  }
  // end
}
