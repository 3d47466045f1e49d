/// A text format of metrics.
enum MetricFormat: Sendable {
  /// OpenMetrics 1.0.
  case openMetrics
  /// The text format 0.0.4 of Prometheus.
  case prometheus

  /// Selects the format that a scraper prefers, by its `Accept` field; the older one if there is no preference.
  init(accept: String?) {
    var (open, plain) = (0.0, 0.0)
    for range in (accept ?? "").lowercased().split(separator: ",") {
      let parts = range.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
      let version = parts.dropFirst().first { $0.hasPrefix("version=") }?.dropFirst("version=".count)
      switch parts.first {
      case "application/openmetrics-text" where version == nil || version == "1.0.0": open = max(open, quality)
      case "text/plain" where version == nil || version == "0.0.4", "text/*", "*/*": plain = max(plain, quality)
      default: break
      }
    }
    self = open > 0 && open >= plain ? .openMetrics : .prometheus
  }

  var contentType: String {
    switch self {
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
    }
  }
}
