/// The page that shows all reports of `Operations` to people. Loads nothing but newer snapshots of itself.
///
/// `Resources` holds its parts, which the build embeds in the program: a program with a page is still one file.
enum OperationsPage {
  /// The scripts, in the order in which they run.
  private static let script = Array(
    [PackageResources.page_js, PackageResources.graph_js, PackageResources.reports_js]
      .joined(separator: [UInt8(ascii: "\n")]))

  /// Returns the page.
  ///
  /// - Parameters:
  ///   - data: the data for the script, by the name of its section.
  ///   - nonce: the nonce that admits the page's own style and script in its security policy; new for each response.
  static func response(_ data: JSON, nonce: String) -> OperationsResponse {
    let body = filled([
      "nonce": Array(nonce.utf8), "style": PackageResources.page_css, "data": data.bytes, "script": script,
    ])
    let policy =
      "default-src 'none'; img-src data:; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return OperationsResponse(
      200, "text/html; charset=utf-8", body,
      headers: [
        ("Content-Security-Policy", policy), ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
      ])
  }

  /// Returns `page.html` with a value in each of its places, such as `{nonce}`.
  private static func filled(_ values: [String: [UInt8]]) -> [UInt8] {
    let braces = [UInt8(ascii: "{"), UInt8(ascii: "}")]
    // Text and names of places, in turn.
    let parts = PackageResources.page_html.split(omittingEmptySubsequences: false) { braces.contains($0) }
    var page: [UInt8] = []
    for (index, part) in parts.enumerated() {
      if index.isMultiple(of: 2) {
        page += part
      } else {
        page += values[String(decoding: part, as: UTF8.self), default: []]
      }
    }
    return page
  }
}
