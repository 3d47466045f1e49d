/// The page that shows all reports of `Operations` to people. Loads nothing but newer snapshots of itself.
enum OperationsPage {
  private static let script = OperationsPageAssets.script + OperationsPageAssets.graph + OperationsPageAssets.reports

  /// Returns the page.
  ///
  /// - Parameters:
  ///   - data: the data for the script, by the name of its section.
  ///   - nonce: the nonce that admits the page's own style and script in its security policy; new for each response.
  static func response(_ data: JSON, nonce: String) -> OperationsResponse {
    var body = Array("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n".utf8)
    body += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Operations</title>\n".utf8
    body += "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n".utf8
    body += "<style nonce=\"\(nonce)\">\(OperationsPageAssets.style)</style>\n</head>\n<body>\n".utf8
    body += "\(OperationsPageAssets.markup)<script type=\"application/json\" id=\"data\">".utf8
    body += data.bytes
    body += "</script>\n<script nonce=\"\(nonce)\">\(script)</script>\n</body>\n</html>\n".utf8
    let policy =
      "default-src 'none'; img-src data:; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return OperationsResponse(
      200, "text/html; charset=utf-8", body,
      headers: [
        ("Content-Security-Policy", policy), ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
      ])
  }
}
