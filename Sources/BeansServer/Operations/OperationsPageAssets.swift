/// What the page is made of.
enum OperationsPageAssets {
  static let style = #"""

    :root { --ink: #1f2328; --soft: #656d76; --paper: #f6f7f9; --card: #fff; --line: #d8dee4; --accent: #0b62c4;
      --good: #1a7f37; --bad: #c62828; --unsure: #8a6100; --bar: #9cc3f0;
      --s0: #dceeff; --s1: #d9f5e1; --s2: #fdf1c8; --s3: #ffe4e1; --s4: #f1e4fd; --s5: #e8ecf0; --edge: #9aa4ae; }
    @media (prefers-color-scheme: dark) {
      :root { --ink: #e6e9ed; --soft: #98a2ad; --paper: #11151a; --card: #1a2027; --line: #313a44; --accent: #6cb0ff;
        --good: #57c377; --bad: #ff8078; --unsure: #e0b34a; --bar: #2f5d92;
        --s0: #17365a; --s1: #15422a; --s2: #4a3c10; --s3: #55211f; --s4: #3d2758; --s5: #2b333c; --edge: #65717d; }
    }
    * { box-sizing: border-box; margin: 0; }
    body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; padding: 1.5rem 1.25rem 3rem; }
    header, nav, main { max-width: 84rem; margin: 0 auto; }
    header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem; }
    h1 { font-size: 1.5rem; letter-spacing: -.01em; margin-right: auto; overflow-wrap: anywhere; }
    h2 { font-size: 1.05rem; }
    nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-top: .5rem; margin-bottom: 1.25rem; font-size: .9rem; }
    a { color: var(--accent); text-decoration: none; }
    a:hover, a:focus-visible { text-decoration: underline; }
    main { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; align-items: start; }
    section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1rem 1.1rem;
      display: grid; gap: .7rem; min-width: 0; scroll-margin-top: 1rem; }
    .wide { grid-column: 1 / -1; }
    .pill { border-radius: 99px; padding: .1rem .7rem; font-size: .85rem; font-weight: 600; border: 1px solid; }
    .good { color: var(--good); } .bad { color: var(--bad); } .unsure { color: var(--unsure); } .soft { color: var(--soft); }
    .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.2rem, 1fr)); gap: 1rem .75rem; }
    .tile strong { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; line-height: 1.25; }
    .tile span { color: var(--soft); font-size: .85rem; }
    .scroll { overflow: auto; max-height: 26rem; }
    table { border-collapse: collapse; width: 100%; font-size: .88rem; }
    th { text-align: left; color: var(--soft); font-weight: 600; position: sticky; top: 0; background: var(--card); }
    th, td { padding: .28rem .8rem .28rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
    tr:last-child td { border-bottom: 0; }
    .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    .code { font-family: ui-monospace, monospace; font-size: .82rem; }
    .dot { display: inline-block; width: .75rem; height: .75rem; border-radius: 3px; border: 1px solid var(--edge);
      margin-right: .35rem; vertical-align: -.08rem; }
    .legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .85rem; color: var(--soft); align-items: center; }
    input, select { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--line);
      border-radius: 8px; padding: .25rem .6rem; max-width: 100%; }
    .bar { height: .7rem; border-radius: 3px; background: var(--bar); min-width: 2px; }
    .bars { width: 40%; } td.bars { vertical-align: middle; }
    .histogram { display: flex; align-items: flex-end; gap: 3px; height: 5.5rem; }
    .histogram div { flex: 1; background: var(--bar); border-radius: 3px 3px 0 0; min-height: 1px; }
    .bounds { display: flex; gap: 3px; font-size: .68rem; color: var(--soft); }
    .bounds span { flex: 1; text-align: center; min-width: 0; }
    pre { font: .8rem/1.5 ui-monospace, monospace; overflow: auto; max-height: 26rem; }
    summary { cursor: pointer; color: var(--soft); }
    #graph { overflow: auto; max-height: 64rem; border: 1px solid var(--line); border-radius: 8px; background: var(--paper); }
    #graph svg { display: block; font: 12px system-ui, sans-serif; }
    #graph text { fill: var(--ink); }
    #graph .band { fill: var(--card); stroke: var(--line); }
    #graph .title { fill: var(--soft); font-weight: 600; }
    #graph .bean rect { stroke: var(--edge); }
    #graph .dashed rect { stroke-dasharray: 4 3; }
    #graph path { fill: none; stroke: var(--edge); stroke-width: 1.2; }
    #graph path.later { stroke-dasharray: 4 3; }
    #graph .dim { opacity: .18; }
    #graph path.hot { stroke: var(--accent); stroke-width: 2; }
    .s0 rect { fill: var(--s0); } .s1 rect { fill: var(--s1); } .s2 rect { fill: var(--s2); }
    .s3 rect { fill: var(--s3); } .s4 rect { fill: var(--s4); } .s5 rect { fill: var(--s5); }
    .dot.s0 { background: var(--s0); } .dot.s1 { background: var(--s1); } .dot.s2 { background: var(--s2); }
    .dot.s3 { background: var(--s3); } .dot.s4 { background: var(--s4); } .dot.s5 { background: var(--s5); }
    @media (max-width: 60rem) { main { grid-template-columns: minmax(0, 1fr); } }
    @media (max-width: 34rem) { body { padding: 1rem .6rem 2rem; } section { padding: .8rem; } .bars { display: none; } }

    """#

  static let markup = #"""
    <header><h1 id="name">Operations</h1><span class="pill" id="livez"></span><span class="pill" id="readyz"></span>
    <a href="">Refresh</a></header>
    <nav aria-label="Sections"></nav>
    <main><noscript>The page shows its data by a script.</noscript></main>

    """#

  static let script = #"""

    'use strict';
    const data = JSON.parse(document.getElementById('data').textContent);
    const main = document.querySelector('main');
    const nav = document.querySelector('nav');

    function make(name, text, className) {
      const element = document.createElement(name);
      if (text !== undefined && text !== null) element.textContent = text;
      if (className) element.className = className;
      return element;
    }
    function section(id, title, isWide) {
      const section = make('section', undefined, isWide ? 'wide' : '');
      section.id = id;
      section.append(make('h2', title));
      main.append(section);
      const link = make('a', title);
      link.href = '#' + id;
      nav.append(link);
      return section;
    }
    const number = value => value === null || value === undefined ? '–' : value.toLocaleString('en');
    const micros = value => value === null || value === undefined ? '–'
      : value < 1000 ? value + ' µs' : value < 1e6 ? (value / 1e3).toFixed(1) + ' ms' : (value / 1e6).toFixed(2) + ' s';
    function seconds(value) {
      if (value === null || value === undefined) return '–';
      if (value < 60) return value.toFixed(1) + ' s';
      if (value < 3600) return Math.floor(value / 60) + ' min';
      return value < 172800 ? (value / 3600).toFixed(1) + ' h' : Math.floor(value / 86400) + ' d';
    }
    const bytes = value => value ? (value / 1048576).toFixed(1) + ' MiB' : '–';
    // Columns: title, what stands in a row's cell (text or an element), class.
    function table(rows, columns) {
      const frame = make('div', undefined, 'scroll');
      if (!rows.length) return make('p', 'None.', 'soft');
      const table = make('table'), head = make('tr'), body = make('tbody');
      for (const [title, , className] of columns) head.append(make('th', title, /number|bars/.test(className) ? className : ''));
      for (const row of rows) {
        const line = make('tr');
        for (const [, value, className] of columns) {
          const content = value(row), cell = make('td', undefined, className);
          if (content instanceof Node) cell.append(content); else cell.textContent = content;
          line.append(cell);
        }
        body.append(line);
      }
      const group = make('thead');
      group.append(head);
      table.append(group, body);
      frame.append(table);
      return frame;
    }
    const word = (text, isGood, isBad) => make('span', text, isGood ? 'good' : isBad ? 'bad' : 'unsure');

    // The head.
    document.title = data.name + ' – operations';
    document.getElementById('name').textContent = data.name;
    for (const [id, good, bad] of [['livez', 'alive', 'not alive'], ['readyz', 'ready', 'not ready']]) {
      const pill = document.getElementById(id);
      pill.textContent = data[id] ? good : bad;
      pill.classList.add(data[id] ? 'good' : 'bad');
    }
    const scopes = data.environments.scopes;
    const total = key => scopes.reduce((sum, scope) => sum + scope[key], 0);
    const tiles = section('overview', 'Overview', true).appendChild(make('div', undefined, 'tiles'));
    for (const [label, value] of [
      ['environments', number(total('open'))], ['beans alive', number(total('created') - total('released'))],
      ['releases failed', number(data.environments.failedReleases)], ['startup', micros(data.startup.micros)],
      ['up for', seconds(data.process.upSeconds)], ['processor time', seconds(data.process.cpuSeconds)],
      ['memory', bytes(data.process.residentBytes)], ['file descriptors', number(data.process.descriptors)],
      ['threads', number(data.process.threads)]]) {
      const tile = make('div', undefined, 'tile');
      tile.append(make('strong', value), make('span', label));
      tiles.append(tile);
    }

    // What is alive.
    section('health', 'Health').append(table(data.health.checks, [
      ['check', c => c.name], ['status', c => word(c.status, c.status === 'UP', c.status === 'DOWN')],
      ['probe', c => c.probe + (c.critical ? '' : ' (not critical)'), 'code'], ['took', c => micros(c.micros), 'number']]));
    section('environments', 'Environments').append(table(scopes, [
      ['scope', s => s.scope], ['open', s => number(s.open), 'number'], ['opened', s => number(s.opened), 'number'],
      ['beans alive', s => number(s.created - s.released), 'number'],
      ['oldest', s => seconds(s.oldestSeconds), 'number'], ['idle', s => seconds(s.longestIdleSeconds), 'number']]));
    section('sessions', 'Sessions').append(table(data.environments.sessions, [
      ['scope', s => s.scope], ['open', s => number(s.open), 'number'], ['in use', s => number(s.inUse), 'number'],
      ['expired', s => number(s.expired), 'number'], ['evicted', s => number(s.evicted), 'number'],
      ['oldest', s => seconds(s.oldestSeconds), 'number'], ['idle', s => seconds(s.longestIdleSeconds), 'number']]));
    const loops = section('loops', 'Event loops');
    if (!data.environments.loops.length) loops.append(make('p', 'None is watched.', 'soft'));
    else {
      const all = data.environments.loops, bounds = all[0].bounds;
      loops.append(make('p', 'How late timers ran on ' + all.length + (all.length === 1 ? ' loop' : ' loops') + ': '
        + micros(Math.round(all.reduce((sum, loop) => sum + loop.meanMicros, 0) / all.length)) + ' on average, '
        + micros(Math.max(...all.map(loop => loop.longestMicros))) + ' at most.', 'soft'));
      const counts = all[0].counts.map((_, index) => all.reduce((sum, loop) => sum + loop.counts[index], 0));
      const chart = make('div', undefined, 'histogram'), labels = make('div', undefined, 'bounds');
      counts.forEach((count, index) => {
        const bar = make('div');
        // By logarithm: the rare ones matter.
        bar.style.height = 100 * Math.log1p(count) / Math.log1p(Math.max(1, ...counts)) + '%';
        bar.title = number(count);
        chart.append(bar);
        labels.append(make('span', index < bounds.length ? (bounds[index] < 1 ? bounds[index] * 1000 : bounds[index] + ' s') : '∞'));
      });
      loops.append(chart, labels, make('p', 'Milliseconds at most; heights by logarithm.', 'soft'));
    }

    // The beans.
    const beans = [], byKey = new Map();
    for (const [context, { beans: own }] of Object.entries(data.beans.contexts)) {
      for (const [name, bean] of Object.entries(own)) {
        const isDashed = bean.inactive !== null || bean.flags.includes('template');
        const entry = { ...bean, name, context, isDashed, key: context + '/' + name };
        beans.push(entry);
        byKey.set(entry.key, entry);
      }
    }
    const later = new Set(['lazy', 'provider', 'current', 'requirement', 'template']);
    const edges = beans.flatMap(bean => bean.edges.map(edge =>
      ({ from: bean, to: byKey.get(edge.to), kind: edge.kind, later: later.has(edge.kind) })))
      .filter(edge => edge.to && edge.to !== edge.from);
    const allScopes = [...new Set(beans.map(bean => bean.scope))];
    const colour = scope => 's' + Math.min(allScopes.indexOf(scope), 5);
    const part = section('beans', 'Beans', true);
    const legend = part.appendChild(make('div', undefined, 'legend'));
    const filter = legend.appendChild(make('input'));
    filter.type = 'search';
    filter.placeholder = 'Filter by name';
    filter.setAttribute('aria-label', 'Filter beans by name');
    for (const scope of allScopes) {
      const label = legend.appendChild(make('span'));
      label.append(make('span', undefined, 'dot ' + colour(scope)), scope);
    }
    legend.append(make('span', 'who takes → what is taken; dashed: later, a template, or inactive'));
    const canvas = part.appendChild(make('div'));
    canvas.id = 'graph';
    const list = part.appendChild(make('details'));
    list.append(make('summary', number(beans.length) + ' declarations as a table'));
    list.append(table(beans, [
      ['bean', b => b.name], ['scope', b => b.scope], ['in', b => b.context, 'code'], ['', b => [...b.flags, b.inactive].filter(Boolean).join(', '), 'soft'], ['declared at', b => b.resource || '–', 'code'],
      ['takes', b => b.dependencies.join(', ') || '–']]));

    const svg = (name, attributes, parent) => {
      const element = document.createElementNS('http://www.w3.org/2000/svg', name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      if (parent) parent.append(element);
      return element;
    };
    // Columns by how far a bean is from those that nobody takes; bands by environment.
    function draw(shown) {
      canvas.replaceChildren();
      if (!shown.length) return canvas.append(make('p', 'No bean of that name.', 'soft'));
      const kept = new Set(shown), drawn = edges.filter(edge => kept.has(edge.from) && kept.has(edge.to));
      const outgoing = new Map(shown.map(bean => [bean, []]));
      for (const edge of drawn) outgoing.get(edge.from).push(edge.to);
      // Depth first, without the edges that close a circle.
      const order = [], state = new Map();
      for (const root of shown) {
        if (state.has(root)) continue;
        const stack = [[root, 0]];
        state.set(root, 1);
        while (stack.length) {
          const top = stack[stack.length - 1], next = outgoing.get(top[0])[top[1]++];
          if (!next) { state.set(top[0], 2); order.push(top[0]); stack.pop(); }
          else if (!state.has(next)) { state.set(next, 1); stack.push([next, 0]); }
        }
      }
      const place = new Map(order.reverse().map((bean, index) => [bean, index]));
      const column = new Map(shown.map(bean => [bean, 0]));
      for (const bean of order) for (const next of outgoing.get(bean)) {
        if (place.get(next) > place.get(bean)) column.set(next, Math.max(column.get(next), column.get(bean) + 1));
      }
      const width = 168, height = 30, gapX = 64, gapY = 12, margin = 16;
      const contexts = Object.keys(data.beans.contexts).filter(name => shown.some(bean => bean.context === name)).reverse();
      const position = new Map();
      let top = margin;
      const columns = Math.max(...column.values()) + 1;
      const picture = svg('svg', { role: 'img', 'aria-label': 'Graph of beans' }, canvas);
      const bands = svg('g', {}, picture), lines = svg('g', {}, picture), boxes = svg('g', {}, picture);
      for (const context of contexts) {
        const own = Array.from({ length: columns }, () => []);
        for (const bean of shown) if (bean.context === context) own[column.get(bean)].push(bean);
        // Beside what they are taken by, as far as that is placed.
        const wanted = new Map();
        for (let index = 0; index < columns; index++) {
          for (const bean of own[index]) {
            const rows = drawn.filter(edge => edge.to === bean && position.has(edge.from)).map(edge => position.get(edge.from)[1]);
            wanted.set(bean, rows.length ? rows.reduce((sum, row) => sum + row, 0) / rows.length : Infinity);
          }
          own[index].sort((a, b) => wanted.get(a) === wanted.get(b) ? 0 : wanted.get(a) - wanted.get(b));
          own[index].forEach((bean, row) =>
            position.set(bean, [2 * margin + index * (width + gapX), top + 30 + row * (height + gapY)]));
        }
        const rows = Math.max(...own.map(beans => beans.length)), tall = 30 + rows * (height + gapY) + 6;
        svg('rect', { class: 'band', x: margin, y: top, rx: 10, height: tall,
          width: columns * (width + gapX) - gapX + 2 * margin }, bands);
        svg('text', { class: 'title', x: 2 * margin, y: top + 19 }, bands).textContent = context;
        top += tall + margin;
      }
      for (const edge of drawn) {
        const [x1, y1] = position.get(edge.from), [x2, y2] = position.get(edge.to), x = x1 + width;
        const back = x2 < x, bend = back ? 60 : Math.max(30, (x2 - x) / 2);
        edge.line = svg('path', { class: edge.later ? 'later' : '',
          d: `M${x} ${y1 + height / 2}C${x + bend} ${y1 + height / 2} ${x2 - bend} ${y2 + height / 2} ${x2} ${y2 + height / 2}` }, lines);
      }
      const marks = [];
      for (const bean of shown) {
        const [x, y] = position.get(bean);
        const box = svg('g', { class: 'bean ' + colour(bean.scope) + (bean.isDashed ? ' dashed' : ''), tabindex: 0 }, boxes);
        svg('rect', { x, y, width, height, rx: 7 }, box);
        svg('text', { x: x + 10, y: y + 19.5 }, box).textContent =
          bean.name.length > 24 ? bean.name.slice(0, 23) + '…' : bean.name;
        svg('title', {}, box).textContent = [bean.name, [bean.scope, ...bean.flags].join(', '), bean.resource, bean.inactive].filter(Boolean).join('\n');
        marks.push([bean, box]);
        const show = () => {
          const near = new Set([bean]);
          for (const edge of drawn) {
            const isNear = edge.from === bean || edge.to === bean;
            edge.line.classList.toggle('hot', isNear);
            edge.line.classList.toggle('dim', !isNear);
            if (isNear) near.add(edge.from).add(edge.to);
          }
          for (const [other, mark] of marks) mark.classList.toggle('dim', !near.has(other));
        };
        const hide = () => {
          for (const edge of drawn) edge.line.classList.remove('hot', 'dim');
          for (const [, mark] of marks) mark.classList.remove('dim');
        };
        for (const event of ['mouseenter', 'focus']) box.addEventListener(event, show);
        for (const event of ['mouseleave', 'blur']) box.addEventListener(event, hide);
      }
      const wide = columns * (width + gapX) - gapX + 4 * margin;
      picture.setAttribute('width', wide);
      picture.setAttribute('height', top);
      picture.setAttribute('viewBox', `0 0 ${wide} ${top}`);
    }
    function redraw() {
      const text = filter.value.trim().toLowerCase();
      if (!text && beans.length > 400) return canvas.replaceChildren(make('p', 'Filter, to see a part of so many beans.', 'soft'));
      const found = new Set(beans.filter(bean => bean.name.toLowerCase().includes(text)));
      if (text) for (const edge of edges) {
        if (edge.from.name.toLowerCase().includes(text)) found.add(edge.to);
        if (edge.to.name.toLowerCase().includes(text)) found.add(edge.from);
      }
      draw(beans.filter(bean => found.has(bean)));
    }
    filter.addEventListener('input', redraw);
    redraw();

    // How it came to be, and what it is told.
    const slowest = [...data.startup.beans].sort((a, b) => (b.micros || 0) - (a.micros || 0));
    const longest = Math.max(1, ...slowest.map(bean => bean.micros || 0));
    const startup = section('startup', 'Startup');
    startup.append(data.startup.micros === null
      ? make('p', 'Not recorded: start the environment with .recordTimes.', 'soft')
      : table(slowest, [['#', b => b.order, 'number soft'], ['bean', b => b.bean + (b.parent ? ' (for ' + b.parent + ')' : '')],
        ['', b => { const bar = make('div', undefined, 'bar'); bar.style.width = 100 * (b.micros || 0) / longest + '%'; return bar; }, 'bars'],
        ['took', b => micros(b.micros), 'number']]));
    section('loggers', 'Loggers').append(table(Object.entries(data.loggers.loggers), [
      ['logger', ([name]) => name, 'code'],
      ['level', ([name, logger]) => {
        if (!data.loggers.mayBeSet) return logger.effectiveLevel + (logger.configuredLevel ? '' : ' (inherited)');
        const select = make('select');
        select.setAttribute('aria-label', 'Level of ' + name);
        select.append(new Option('inherited or registered', ''), ...data.loggers.levels.map(level => new Option(level, level)));
        select.value = logger.configuredLevel || '';
        select.addEventListener('change', async () => {
          const body = select.value ? JSON.stringify({ configuredLevel: select.value }) : '{}';
          const answer = await fetch('loggers/' + encodeURIComponent(name), { method: 'POST', body });
          if (answer.ok) location.reload(); else alert((await answer.json()).error);
        });
        return select;
      }]]));
    section('configuration', 'Configuration', true).append(table(data.configuration.values, [
      ['key', v => v.key, 'code'], ['source', v => v.source, 'code'],
      ['', v => [v.scope && 'in ' + v.scope, v.dynamic && 'dynamic', v.overruled && 'overruled', v.inherited && 'inherited']
        .filter(Boolean).join(', '), 'soft']]));
    const metrics = section('metrics', 'Metrics', true).appendChild(make('details'));
    metrics.append(make('summary', number(data.metrics.split('\n').filter(line => line && line[0] !== '#').length) + ' samples'),
      make('pre', data.metrics));

    """#
}
