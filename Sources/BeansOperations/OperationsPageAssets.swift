/// The parts of the page that do not depend on the service: markup here, style and script in extensions.
enum OperationsPageAssets {
  static let markup = #"""
    <header><h1 id="name">Operations</h1><span class="pills"><span class="pill" id="livez"></span>
    <span class="pill" id="readyz"></span><span class="pill unsure" id="others" hidden></span></span></header>
    <div class="bar-of-snapshot"><nav aria-label="Sections"></nav>
    <div class="snapshot"><span id="snapshot"></span><button type="button" id="pause">Pause</button>
    <button type="button" id="refresh">Refresh</button></div></div>
    <div id="alerts" role="status"></div>
    <main><noscript>The page shows its data by a script.</noscript></main>

    """#
}
