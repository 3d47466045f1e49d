// Marked listings stand in the catalogue to the letter: see ListingTests.swift.

// listing
import Beans
import BeansJSON

// end

struct BeansJSONCatalogue {
  // continued
  func addFile(_ path: String, to environment: Environment) throws {
    try environment.addConfigurationSource(JSONConfigurationSource(path: path))
  }
  // end
}
