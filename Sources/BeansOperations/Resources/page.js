'use strict';
let data = JSON.parse(document.getElementById('data').textContent);
const main = document.querySelector('main');
const nav = document.querySelector('nav');
const element = id => document.getElementById(id);

function make(name, text, className) {
  const element = document.createElement(name);
  if (text !== undefined && text !== null) element.textContent = text;
  if (className) element.className = className;
  return element;
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
// In UTC, as logs have it; the date where it is another day than that of the snapshot.
function moment(text, isWhole) {
  if (!text) return '–';
  const [day, time] = text.split('T');
  return (isWhole || day !== data.time.split('T')[0] ? day + ' ' : '') + time.slice(0, 8) + ' UTC';
}
const age = text => (new Date(data.time) - new Date(text)) / 1000;
const word = (text, className) => make('span', text, className);
// Columns: title, content of a row's cell (text or an element), class. A note of a row follows below it.
function table(rows, columns, note = () => null, className = () => '') {
  if (!rows.length) return make('p', 'None.', 'soft');
  const frame = make('div', undefined, 'scroll'), table = make('table'), head = make('tr'), body = make('tbody');
  for (const [title, , className] of columns) head.append(make('th', title, /number|bars/.test(className) ? className : ''));
  for (const row of rows) {
    const line = make('tr', undefined, className(row)), text = note(row);
    for (const [title, value, className] of columns) {
      const content = value(row), cell = make('td', undefined, className);
      cell.dataset.title = title;
      if (content instanceof Node) cell.append(content); else cell.textContent = content;
      line.append(cell);
    }
    body.append(line);
    if (!text) continue;
    line.classList.add('noted');
    const below = make('tr', undefined, 'note'), cell = make('td');
    cell.colSpan = columns.length;
    cell.append(text);
    below.append(cell);
    body.append(below);
  }
  const group = make('thead');
  group.append(head);
  table.append(group, body);
  frame.append(table);
  return frame;
}

// Each section has a function that makes its content; sections that change are made anew for each snapshot.
const changing = [];
function section(id, title, isWide, content, isFixed) {
  const section = make('section', undefined, isWide ? 'wide' : ''), body = make('div', undefined, 'body');
  section.id = id;
  section.append(make('h2', title), body);
  main.append(section);
  const link = make('a', title);
  link.href = '#' + id;
  nav.append(link);
  if (content) body.append(...content());
  if (content && !isFixed) changing.push([section, body, content]);
  return body;
}
// Keeps a section that has the focus or a selected text, and the places to which lists are scrolled.
function renew([section, body, content]) {
  const selection = getSelection();
  if (section.contains(document.activeElement) || !selection.isCollapsed && selection.containsNode(section, true)) return;
  const scrolled = [...body.querySelectorAll('.scroll, pre')].map(frame => [frame.scrollTop, frame.scrollLeft]);
  const opened = [...body.querySelectorAll('details')].map(details => details.open);
  body.replaceChildren(...content());
  body.querySelectorAll('details').forEach((details, index) => { details.open = opened[index]; });
  body.querySelectorAll('.scroll, pre').forEach((frame, index) => {
    if (scrolled[index]) [frame.scrollTop, frame.scrollLeft] = scrolled[index];
  });
}

// The head: what needs attention, most urgent first.
const isDown = check => check.status === 'DOWN';
function alerts() {
  const list = [];
  const add = (className, title, text) => {
    const alert = make('div', undefined, 'alert ' + className);
    alert.append(make('strong', title), make('span', text));
    list.push(alert);
  };
  if (failure) add('bad', 'The service does not respond.', failure + ' Everything below is of ' + moment(data.time, true) + '.');
  for (const [id, title] of [['livez', 'Not alive:'], ['readyz', 'Not ready:']]) {
    for (const reason of data.health.reasons['/' + id]) add('bad', title, reason);
  }
  for (const check of data.health.checks.filter(check => isDown(check) && !check.critical)) {
    add('unsure', 'Not critical, but down:', check.name + ', since ' + moment(check.since) + ': ' + (check.reason || 'no reason given'));
  }
  return list;
}
function renderHead() {
  document.title = (failure ? 'no response – ' : !data.livez ? 'not alive – ' : !data.readyz ? 'not ready – ' : '')
    + data.name + ' – operations';
  element('name').textContent = data.name;
  for (const [id, good, bad] of [['livez', 'alive', 'not alive'], ['readyz', 'ready', 'not ready']]) {
    const pill = element(id);
    pill.textContent = failure ? 'unknown' : data[id] ? good : bad;
    pill.className = 'pill ' + (failure ? 'unsure' : data[id] ? 'good' : 'bad');
  }
  const others = data.health.checks.filter(check => isDown(check) && !check.critical).length;
  element('others').hidden = !others;
  element('others').textContent = others + ' down, not critical';
  element('alerts').replaceChildren(...alerts());
}
const scopes = () => data.environments.scopes;
const total = key => scopes().reduce((sum, scope) => sum + scope[key], 0);
section('overview', 'Overview', true, () => {
  const tiles = make('div', undefined, 'tiles');
  for (const [label, value, title] of [
    ['environments', number(total('open'))], ['beans alive', number(total('created') - total('released'))],
    ['releases failed', number(data.environments.failedReleases)], ['startup', micros(data.startup.micros)],
    ['up for', seconds(data.process.upSeconds), 'since ' + moment(data.process.startTime, true)],
    ['processor time', seconds(data.process.cpuSeconds)],
    ['memory', bytes(data.process.residentBytes)], ['file descriptors', number(data.process.descriptors)],
    ['threads', number(data.process.threads)]]) {
    const tile = make('div', undefined, 'tile');
    if (title) tile.title = title;
    tile.append(make('strong', value, label === 'releases failed' && data.environments.failedReleases ? 'bad' : ''),
      make('span', label));
    tiles.append(tile);
  }
  return [tiles];
});

// Health, environments, sessions, loops.
section('health', 'Health', false, () => {
  const list = isCritical => table(data.health.checks.filter(check => check.critical === isCritical), [
    ['check', c => c.name, 'name'],
    ['status', c => word(c.status, c.status === 'UP' ? c.contrary ? 'unsure' : 'good' : isDown(c) && c.critical ? 'bad' : 'unsure')],
    ['since', c => c.since ? moment(c.since) + ' (' + seconds(Math.max(0, age(c.since))) + ')' : '–'],
    ['probe', c => c.critical ? c.probe : 'none', 'code'], ['took', c => micros(c.micros), 'number']],
    c => c.reason && word((isDown(c) ? c.contrary ? 'has succeeded once since; was down: ' : '' : 'failed last: ') + c.reason,
      isDown(c) && c.critical ? 'bad' : 'unsure'));
  const checks = data.health.checks;
  if (checks.every(check => check.critical)) return [list(true)];
  return [make('h3', 'Critical'), list(true), make('h3', 'Not critical: they fail no probe'), list(false)];
});
section('environments', 'Environments', false, () => [table(scopes(), [
  ['scope', s => s.scope, 'name'], ['open', s => number(s.open), 'number'], ['opened', s => number(s.opened), 'number'],
  ['beans alive', s => number(s.created - s.released), 'number'],
  ['oldest', s => seconds(s.oldestSeconds), 'number'], ['idle', s => seconds(s.longestIdleSeconds), 'number']])]);
section('sessions', 'Sessions', false, () => [table(data.environments.sessions, [
  ['scope', s => s.scope, 'name'], ['open', s => number(s.open), 'number'], ['in use', s => number(s.inUse), 'number'],
  ['expired', s => number(s.expired), 'number'], ['evicted', s => number(s.evicted), 'number'],
  ['oldest', s => seconds(s.oldestSeconds), 'number'], ['idle', s => seconds(s.longestIdleSeconds), 'number']])]);
section('loops', 'Event loops', false, () => {
  const all = data.environments.loops;
  if (!all.length) return [make('p', 'None is watched.', 'soft')];
  const bounds = all[0].bounds, measured = all.reduce((sum, loop) => sum + loop.measured, 0);
  const average = all.reduce((sum, loop) => sum + loop.meanMicros * loop.measured, 0) / Math.max(1, measured);
  const counts = all[0].counts.map((_, index) => all.reduce((sum, loop) => sum + loop.counts[index], 0));
  const chart = make('div', undefined, 'histogram'), labels = make('div', undefined, 'bounds');
  counts.forEach((count, index) => {
    const bar = make('div');
    // By logarithm: the rare ones matter.
    bar.style.height = 100 * Math.log1p(count) / Math.log1p(Math.max(1, ...counts)) + '%';
    bar.title = number(count);
    chart.append(bar);
    labels.append(make('span', index < bounds.length ? (bounds[index] < 1 ? bounds[index] * 1000 : bounds[index] + 's') : '∞'));
  });
  return [
    make('p', 'Delay of timers on ' + all.length + (all.length === 1 ? ' loop' : ' loops') + ': '
      + micros(Math.round(average)) + ' on average, ' + micros(Math.max(...all.map(loop => loop.longestMicros))) + ' at most.', 'soft'),
    chart, labels, make('p', 'Upper bounds in milliseconds; heights by logarithm.', 'soft')];
});
