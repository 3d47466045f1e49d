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
legend.append(make('span', 'Arrows lead to what a bean takes; dashed: later, a template, or inactive.'));
const canvas = part.appendChild(make('div'));
canvas.id = 'graph';
const list = part.appendChild(make('details'));
list.append(make('summary', number(beans.length) + ' declarations as a table'));
list.append(table(beans, [
  ['bean', b => b.name, 'name'], ['scope', b => b.scope], ['in', b => b.context, 'code long'],
  ['', b => [...b.flags, b.inactive].filter(Boolean).join(', '), 'soft'],
  ['declared at', b => b.resource || '–', 'code long'], ['takes', b => b.dependencies.join(', ') || '–', 'long']]));

// Labels that fit and differ: cut in the middle, and where that makes them equal, without what they have in common.
const pen = document.createElement('canvas').getContext('2d');
pen.font = '12px system-ui, sans-serif';
const longest = (fits, most) => {
  let low = 0, high = most;
  while (low < high) { const middle = (low + high + 1) >> 1; if (fits(middle)) low = middle; else high = middle - 1; }
  return low;
};
function labels(names, room) {
  const fits = text => pen.measureText(text).width <= room;
  const cut = (text, end = '') => {
    if (fits(text + end)) return text + end;
    const short = kept => text.slice(0, Math.ceil(kept / 2)) + '…' + text.slice(text.length - Math.floor(kept / 2)) + end;
    return short(longest(kept => fits(short(kept)), text.length));
  };
  const cutEnd = text => fits(text) ? text : text.slice(0, longest(kept => fits(text.slice(0, kept) + '…'), text.length)) + '…';
  const result = new Map(names.map(name => [name, cut(name)]));
  const alike = () => {
    const groups = new Map();
    for (const name of names) groups.set(result.get(name), [...(groups.get(result.get(name)) || []), name]);
    return [...groups.values()].filter(group => group.length > 1);
  };
  for (const group of alike()) {
    let common = 0;
    while (group.every(name => common < name.length && name[common] === group[0][common])) common += 1;
    // From the beginning of a word on.
    while (common > 0 && !/[A-Z]/.test(group[0][common]) && /\w/.test(group[0][common - 1])) common -= 1;
    for (const name of group) result.set(name, (common ? '…' : '') + name.slice(common));
    for (const name of group) if (!fits(result.get(name))) result.set(name, cutEnd(result.get(name)));
  }
  for (const group of alike()) group.forEach((name, index) => result.set(name, cut(name, ' #' + (index + 1))));
  return result;
}

const svg = (name, attributes, parent) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (parent) parent.append(element);
  return element;
};
// The layer of a bean: how far it is from those that no bean takes. Edges that close a circle do not count.
function layers(shown, drawn) {
  const outgoing = new Map(shown.map(bean => [bean, []]));
  for (const edge of drawn) outgoing.get(edge.from).push(edge.to);
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
  const layer = new Map(shown.map(bean => [bean, 0]));
  for (const bean of order) for (const next of outgoing.get(bean)) {
    if (place.get(next) > place.get(bean)) layer.set(next, Math.max(layer.get(next), layer.get(bean) + 1));
  }
  return layer;
}
// Bands by environment, the innermost first. In a band, layers from top to bottom, as many rows as they need; then beans
// without an edge, side by side.
function draw(shown) {
  canvas.replaceChildren();
  if (!shown.length) return canvas.append(make('p', 'No bean of that name.', 'soft'));
  const kept = new Set(shown), drawn = edges.filter(edge => kept.has(edge.from) && kept.has(edge.to));
  const layer = layers(shown, drawn), joined = new Set(drawn.flatMap(edge => [edge.from, edge.to]));
  const whole = Math.max(260, canvas.clientWidth), margin = whole < 500 ? 6 : 14, inset = 2 * margin;
  const height = 30, gapX = whole < 500 ? 10 : 18, gapY = 10, gapLayer = 30, inner = whole - 2 * inset;
  const perRow = Math.max(1, Math.floor((inner + gapX) / ((whole < 500 ? 126 : 164) + gapX)));
  const width = Math.min(240, Math.floor((inner - (perRow - 1) * gapX) / perRow));
  const contexts = Object.keys(data.beans.contexts).filter(name => shown.some(bean => bean.context === name)).reverse();
  const picture = svg('svg', { role: 'img', 'aria-label': 'Graph of beans' }, canvas);
  const bands = svg('g', {}, picture), lines = svg('g', {}, picture), titles = svg('g', {}, picture), boxes = svg('g', {}, picture);
  // The corner of each bean, and the top and the bottom of its layer.
  const position = new Map(), block = new Map();
  const incoming = new Map(shown.map(bean => [bean, []]));
  for (const edge of drawn) incoming.get(edge.to).push(edge.from);
  let top = margin;
  // Places beans side by side, each as near as possible to the place that it wants.
  const putRows = (beans, gap, wanted) => {
    const step = width + gapX, begin = top;
    for (let first = 0; first < beans.length; first += perRow) {
      const row = beans.slice(first, first + perRow);
      let end = inset + inner - width;
      const places = row.map(bean => wanted(bean, row));
      for (let index = 0, least = inset; index < row.length; index++, least += step) {
        places[index] = Math.max(places[index], least);
        least = places[index];
      }
      for (let index = row.length - 1; index >= 0; index--, end -= step) {
        places[index] = Math.min(places[index], end);
        end = places[index];
      }
      row.forEach((bean, index) => position.set(bean, [Math.round(places[index]), top]));
      top += height + gapY;
    }
    for (const bean of beans) block.set(bean, [begin, top - gapY]);
    top += gap - gapY;
  };
  for (const context of contexts) {
    const own = shown.filter(bean => bean.context === context), begin = top, rows = new Map();
    svg('text', { class: 'title', x: inset, y: top + 19 }, titles).textContent = context;
    top += 30;
    for (const bean of own) {
      if (joined.has(bean)) rows.set(layer.get(bean), [...(rows.get(layer.get(bean)) || []), bean]);
    }
    for (const number of [...rows.keys()].sort((a, b) => a - b)) {
      // Below those that take them, as far as these are placed; else in the middle.
      const taken = new Map(rows.get(number).map(bean => {
        const places = incoming.get(bean).filter(from => position.has(from)).map(from => position.get(from)[0]);
        return [bean, places.length ? places.reduce((sum, place) => sum + place, 0) / places.length : null];
      }));
      const middle = (bean, row) => inset + inner / 2 + (row.indexOf(bean) - row.length / 2) * (width + gapX);
      const key = bean => taken.get(bean) ?? whole / 2;
      putRows(rows.get(number).sort((a, b) => key(a) - key(b)), gapLayer, (bean, row) => taken.get(bean) ?? middle(bean, row));
    }
    const single = own.filter(bean => !joined.has(bean));
    if (single.length) putRows(single, gapLayer, () => inset);
    top += margin - gapLayer;
    svg('rect', { class: 'band', x: margin, y: begin, rx: 10, height: top - begin, width: whole - 2 * margin }, bands);
    top += margin;
  }
  // Ends of edges side by side, in the order of the other ends. In a layer of several rows, edges go around the rows between.
  const ports = (beans, near, far) => {
    const places = new Map();
    for (const bean of beans) {
      const own = drawn.filter(edge => edge[near] === bean).sort((a, b) => position.get(a[far])[0] - position.get(b[far])[0]);
      own.forEach((edge, index) => places.set(edge,
        Math.round(position.get(bean)[0] + width / 2 + (index - (own.length - 1) / 2) * Math.min(14, width * .7 / own.length))));
    }
    return places;
  };
  const starts = ports(shown, 'from', 'to'), ends = ports(shown, 'to', 'from');
  for (const edge of drawn) {
    const [x1, y1] = position.get(edge.from), [x2, y2] = position.get(edge.to), middle = height / 2, gutter = gapX / 2;
    edge.group = svg('g', { class: edge.later ? 'later' : '' }, lines);
    let path, head;
    if (y2 > y1) {
      const bottom = block.get(edge.from)[1], top = block.get(edge.to)[0];
      const isLast = y1 + height === bottom, isFirst = y2 === top;
      const [a, b] = isLast ? [starts.get(edge), bottom] : [x1 + width + gutter, bottom];
      const [c, d] = isFirst ? [ends.get(edge), top - 6] : [x2 - gutter, top];
      const bend = Math.max(14, Math.min(60, (d - b) / 2));
      path = (isLast ? `M${a} ${b}` : `M${x1 + width} ${y1 + middle}Q${a} ${y1 + middle} ${a} ${y1 + middle + gutter}V${b}`)
        + `C${a} ${b + bend} ${c} ${d - bend} ${c} ${d}` + (isFirst ? '' : `V${y2 + middle - 2}`);
      head = isFirst ? `M${c - 4} ${d}h8l-4 6z` : `M${x2 - gutter} ${y2 + middle - 4}v8l${gutter} -4z`;
    } else {
      // Upwards: at the right side.
      const [a, b, c, d] = [x1 + width, y1 + middle, x2 + width + 6, y2 + middle];
      path = `M${a} ${b}C${a + margin} ${b} ${c + margin} ${d} ${c} ${d}`;
      head = `M${c} ${d - 4}v8l-6 -4z`;
    }
    svg('path', { class: 'line', d: path }, edge.group);
    svg('path', { class: 'head', d: head }, edge.group);
  }
  const label = new Map();
  for (const context of contexts) {
    const own = shown.filter(bean => bean.context === context), texts = labels(own.map(bean => bean.name), width - 18);
    for (const bean of own) label.set(bean, texts.get(bean.name));
  }
  const marks = [];
  for (const bean of shown) {
    const [x, y] = position.get(bean);
    const box = svg('g', { class: 'bean ' + colour(bean.scope) + (bean.isDashed ? ' dashed' : ''), tabindex: 0 }, boxes);
    svg('rect', { x, y, width, height, rx: 7 }, box);
    svg('text', { x: x + 9, y: y + 19.5 }, box).textContent = label.get(bean);
    svg('title', {}, box).textContent = [bean.name, [bean.scope, ...bean.flags].join(', '), bean.resource, bean.inactive].filter(Boolean).join('\n');
    marks.push([bean, box]);
    const show = () => {
      const near = new Set([bean]);
      for (const edge of drawn) {
        const isNear = edge.from === bean || edge.to === bean;
        edge.group.classList.toggle('hot', isNear);
        edge.group.classList.toggle('dim', !isNear);
        if (isNear) near.add(edge.from).add(edge.to);
      }
      for (const [other, mark] of marks) mark.classList.toggle('dim', !near.has(other));
    };
    const hide = () => {
      for (const edge of drawn) edge.group.classList.remove('hot', 'dim');
      for (const [, mark] of marks) mark.classList.remove('dim');
    };
    for (const event of ['mouseenter', 'focus']) box.addEventListener(event, show);
    for (const event of ['mouseleave', 'blur']) box.addEventListener(event, hide);
  }
  picture.setAttribute('width', whole);
  picture.setAttribute('height', top);
  picture.setAttribute('viewBox', `0 0 ${whole} ${top}`);
}
const mostDrawn = 400;
function redraw() {
  const text = filter.value.trim().toLowerCase();
  const found = new Set(beans.filter(bean => bean.name.toLowerCase().includes(text)));
  if (text) for (const edge of edges) {
    if (edge.from.name.toLowerCase().includes(text)) found.add(edge.to);
    if (edge.to.name.toLowerCase().includes(text)) found.add(edge.from);
  }
  if (found.size > mostDrawn) {
    return canvas.replaceChildren(make('p', 'Filter, to see a part of ' + number(found.size) + ' beans.', 'soft'));
  }
  draw(beans.filter(bean => found.has(bean)));
}
filter.addEventListener('input', redraw);
// The width is that of the page, which may change.
let drawnWidth = 0;
new ResizeObserver(() => {
  if (canvas.clientWidth === drawnWidth) return;
  drawnWidth = canvas.clientWidth;
  redraw();
}).observe(canvas);
