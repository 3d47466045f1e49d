// Startup, loggers, configuration, metrics.
section('startup', 'Startup', false, () => {
  if (data.startup.micros === null) return [make('p', 'Not recorded: start the environment with .recordTimes.', 'soft')];
  const slowest = [...data.startup.beans].sort((a, b) => (b.micros || 0) - (a.micros || 0));
  const longest = Math.max(1, ...slowest.map(bean => bean.micros || 0));
  return [table(slowest, [['bean', b => b.bean + (b.parent ? ' (for ' + b.parent + ')' : '')],
    ['', b => { const bar = make('div', undefined, 'bar'); bar.style.width = 100 * (b.micros || 0) / longest + '%'; return bar; }, 'bars'],
    ['took', b => micros(b.micros), 'number'], ['order', b => b.order, 'number soft']])];
}, true);
section('loggers', 'Loggers', false, () => [table(Object.entries(data.loggers.loggers), [
  ['logger', ([name]) => name, 'code'],
  ['level', ([name, logger]) => {
    if (!data.loggers.mayBeSet) return logger.effectiveLevel + (logger.configuredLevel ? '' : ' (inherited)');
    const select = make('select');
    select.setAttribute('aria-label', 'Level of ' + name);
    select.append(new Option('inherited or registered', ''), ...data.loggers.levels.map(level => new Option(level, level)));
    select.value = logger.configuredLevel || '';
    select.addEventListener('change', async () => {
      const body = select.value ? JSON.stringify({ configuredLevel: select.value }) : '{}';
      select.blur();
      const answer = await fetch('loggers/' + encodeURIComponent(name), { method: 'POST', body });
      if (!answer.ok) alert((await answer.json()).error);
      refresh();
    });
    return select;
  }]])]);
section('configuration', 'Configuration', true, () => [
  make('p', 'Keys and their sources. Values are not shown.', 'soft'),
  table(data.configuration.values, [
    ['key', v => v.key, 'code'],
    ['source', v => v.source === null ? word('none: its default is used', 'soft') : word(v.source, 'code'), 'long'],
    ['', v => [v.scope && 'in ' + v.scope, v.name !== null && 'named ' + v.name,
      v.readAs.length && 'read as ' + v.readAs.join(', '), v.overruledBy !== null && 'overruled by ' + v.overruledBy,
      v.overrules.length && 'overrules ' + v.overrules.join(', '), v.dynamic && 'dynamic', v.inherited && 'inherited']
      .filter(Boolean).join('; '), 'soft long']], () => null, v => v.overruled ? 'less' : '')]);
section('metrics', 'Metrics', true, () => {
  const metrics = make('details');
  metrics.append(make('summary', number(data.metrics.split('\n').filter(line => line && line[0] !== '#').length) + ' samples'),
    make('pre', data.metrics));
  return [metrics];
});

// Newer snapshots, until they are paused; the address keeps that.
const period = 5000;
let failure = null, timer, arrival = performance.now(), isPaused = new URLSearchParams(location.search).has('paused');
function renderState() {
  const old = (performance.now() - arrival) / 1000;
  element('snapshot').textContent = 'As of ' + moment(data.time, true)
    + (old > 2 * period / 1000 ? ', ' + seconds(old) + ' old' : '') + (isPaused ? ', paused' : ', every ' + period / 1000 + ' s');
  element('pause').textContent = isPaused ? 'Resume' : 'Pause';
  element('pause').setAttribute('aria-pressed', isPaused);
}
async function refresh() {
  clearTimeout(timer);
  try {
    const answer = await fetch(location.pathname, {
      headers: { Accept: 'application/json' }, cache: 'no-store', signal: AbortSignal.timeout(4 * period) });
    if (!answer.ok) throw new Error('It returns ' + answer.status + '.');
    const newer = await answer.json();
    // Another process, or one that has started meanwhile: its beans are not those of this page.
    if (newer.started !== data.started || newer.process.startTime !== data.process.startTime) return location.reload();
    data = { ...data, ...newer };
    [failure, arrival] = [null, performance.now()];
    changing.forEach(renew);
    main.dataset.snapshots = Number(main.dataset.snapshots || 1) + 1;
  } catch (error) {
    failure = error.message.replace(/\.?$/, '.');
  }
  renderHead();
  renderState();
  schedule();
}
function schedule() {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) timer = setTimeout(refresh, period);
}
element('pause').addEventListener('click', () => {
  isPaused = !isPaused;
  history.replaceState(null, '', location.pathname + (isPaused ? '?paused' : '') + location.hash);
  renderState();
  if (isPaused) clearTimeout(timer); else refresh();
});
element('refresh').addEventListener('click', refresh);
document.addEventListener('visibilitychange', () => { if (!isPaused && !document.hidden) refresh(); else schedule(); });
setInterval(renderState, 1000);
renderHead();
renderState();
schedule();
