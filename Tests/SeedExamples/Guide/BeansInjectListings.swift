// The marked listing stands in the article to the letter, but for its indentation: see ListingTests.swift. In a structure,
// because other files of these tests have classes of the same names.

// listing
import Beans
import BeansInject

// end

struct BeansInjectPage {
  // continued
  final class Mailer: Sendable {}

  final class Newsletter: Initializable {
    @Injected var mailer: Mailer
  }

  func newsletter() throws -> Newsletter {
    let post = try Environment(name: "post")
    try post.define(Mailer.self, factory: Mailer.init)
    try post.define(post.bean(Newsletter.self))
    return try post.getBean(Newsletter.self)
  }
  // end
}
