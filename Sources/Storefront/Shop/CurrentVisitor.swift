/// The visitor of the request at hand. Made once a request, which is how requests are counted.
final class CurrentVisitor: Sendable {
  let profile: VisitorProfile

  init(profile: VisitorProfile) {
    self.profile = profile
    profile.noteRequest()
  }
}
