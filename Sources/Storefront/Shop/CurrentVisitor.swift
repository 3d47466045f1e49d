/// The visitor of the request at hand.
final class CurrentVisitor: Sendable {
  let profile: VisitorProfile

  init(profile: VisitorProfile) { self.profile = profile }
}
