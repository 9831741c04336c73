// What the page shows, and its asking. Everything that comes from outside is set as text, never as markup.

const POLL_MS = 2000;
const EVIDENCE_EVERY = 5;  // polls
const PATIENCE_MS = 5000;

const byId = (id) => document.getElementById(id);

function element(name, className, ...children) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== ''));
  return node;
}

// Replaces a node's children only if something differs, so that what somebody reads or marks stays.
function fill(node, ...children) {
  const fresh = node.cloneNode(false);
  fresh.append(...children.filter((child) => child !== null && child !== ''));
  if (!fresh.isEqualNode(node)) node.replaceChildren(...fresh.childNodes);
}

function moment(time) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return element('time', '', 'at an unknown time');
  const node = element('time', '', `${ago(time)} (${clock(date)})`);
  node.dateTime = time;
  return node;
}

// Graphs: bars and lines in a box of 60 by 30.

const SVG = 'http://www.w3.org/2000/svg';
function shape(name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

function bars(lists, classes) {
  const total = lists[0].map((_, i) => lists.reduce((sum, list) => sum + list[i], 0));
  const top = Math.max(...total);
  if (!(top > 0)) return {top: 0, shapes: []};
  const shapes = [];
  total.forEach((_, i) => {
    let below = 0;
    lists.forEach((list, which) => {
      if (list[i] <= 0) return;
      const height = (28 * list[i]) / top;
      const y = 30 - below - height;
      below += height;
      shapes.push(shape('rect', {x: i + 0.1, y: y.toFixed(2), width: 0.8, height: height.toFixed(2), class: classes[which],
        'vector-effect': 'non-scaling-stroke'}));
    });
  });
  return {top, shapes};
}

function line(values) {
  const top = Math.max(0, ...values.filter((value) => value !== null));
  if (!(top > 0)) return {top: 0, shapes: []};
  let d = '';
  let pen = 'M';
  values.forEach((value, i) => {
    if (value === null) {
      pen = 'M';
      return;
    }
    const y = (30 - (28 * value) / top).toFixed(2);
    d += `${pen}${i} ${y}L${i + 1} ${y}`;  // as wide as its step
    pen = 'L';
  });
  return {top, shapes: [shape('path', {d, 'vector-effect': 'non-scaling-stroke'})]};
}

function graph(title, now, highest, drawing, minutes) {
  const box = shape('svg', {viewBox: '0 0 60 30', preserveAspectRatio: 'none', role: 'img',
    'aria-label': `${title} in the last ${minutes} minutes: now ${now}, highest ${highest}`});
  box.append(...drawing.shapes);
  return element('div', 'graph',
    element('h3', '', element('span', '', title), element('span', '', `now ${now}`)),
    box,
    element('p', 'axis quiet', element('span', '', `${minutes} min ago`), element('span', '', `highest ${highest}`), element('span', '', 'now')));
}

function graphsOf(chain) {
  const {step_seconds: step, calls, failed, limited, p95_ms: p95, latest: now} = chain.recent;
  const minutes = Math.round((calls.length * step) / 60);
  const perSecond = (number) => rate(number / step);
  const last = calls.length - 2;  // the last whole step
  const errors = bars([failed, limited], ['failed', 'limited']);
  const served = bars([calls], ['calls']);
  const slow = line(p95);
  const latest = p95[last + 1] ?? p95[last];
  const split = `${grouped(now.failed)} failed, ${grouped(now.limited)} to wait`;
  return [
    graph('Calls a second', rate(now.calls / Math.max(1, now.seconds)), perSecond(served.top), served, minutes),
    graph('Not served', split, `${grouped(errors.top)} in ${step} s`, errors, minutes),
    graph('Latency, 95 of 100 within', milliseconds(latest), milliseconds(slow.top), slow, minutes),
  ];
}

// One chain.

function factsOf(chain, serving) {
  const level = chain.upstreams.filter((upstream) =>
    SEEN.includes(upstream.state) && !upstream.apart && upstream.head && upstream.lag_blocks === 0).length;
  const fact = (name, ...values) => element('span', '', element('span', 'quiet', `${name} `), ...values);
  const facts = [];
  if (chain.head) {
    const late = chain.head.age_seconds > Math.max(60, 10 * chain.block_time_seconds);
    facts.push(fact('head', element('b', '', grouped(chain.head.number)), ', ',
      element('span', late ? 'badge warn' : '', late ? `\u25b2 ${span(chain.head.age_seconds)} old` : `${span(chain.head.age_seconds)} old`)));
    if (chain.head.hash) facts.push(fact('hash', element('span', 'code', shortHash(chain.head.hash))));
  } else {
    facts.push(fact('head', element('b', '', 'not known')));
  }
  facts.push(fact('at the head', element('b', '', `${level} of ${chain.upstreams.length}`)));
  facts.push(fact('can serve', element('b', '', `${serving} of ${chain.upstreams.length}`)));
  const {calls, oldest_seconds: oldest} = chain.in_flight;
  facts.push(fact('in flight', element('b', '', calls > 0 ? count(calls, 'call') : 'none'),
    calls > 0 ? `, the oldest for ${span(oldest)}` : ''));
  if (chain.finalized) facts.push(fact('finalized', grouped(chain.finalized.number)));
  return facts;
}

function problemsOf(troubles) {
  return troubles.map(({upstream, level, word, text, advice}) =>
    element('li', '',
      element('span', `badge ${level}`, `${level === 'bad' ? '\u2715' : '\u25b2'} ${word}`), ' ',
      element('b', '', upstream.name), text ? `: ${text}. ` : '. ',
      element('span', 'advice', advice)));
}

function budgetOf(upstream) {
  const lines = [];
  const {calls_per_second: calls, learned, units_per_second: units} = upstream.rate;
  if (calls !== null) lines.push(`${rate(calls)} calls/s${learned ? ', learned' : ''}`);
  if (units !== null) lines.push(`${grouped(units)} units/s`);
  if (upstream.allowance) {
    const {units_per_day: day, used, renews_in_seconds: renews} = upstream.allowance;
    lines.push(`${percent(1 - used)} of ${grouped(day)} units left today${renews === null ? '' : `, renewed in ${span(renews)}`}`);
  } else {
    lines.push(`${grouped(upstream.units_today)} units today`);
  }
  return lines;
}

// How far its head is from the chain's.
function distanceOf(upstream, chain) {
  if (!upstream.head || isSilent(upstream)) return '-';
  if (kindOf(upstream) !== 'ahead' || !chain.head) return count(upstream.lag_blocks, 'block');
  return `${count(Math.max(0, upstream.head.number - chain.head.number), 'block')} ahead`;
}

function rowOf(upstream, chain) {
  const state = stateOf(upstream);
  const cell = (label, ...values) => {
    const node = element('td', 'number', element('span', '', ...values));
    node.dataset.label = label;
    node.setAttribute('role', 'cell');
    return node;
  };
  const name = element('th', '', upstream.name, ' ', element('span', 'quiet', upstream.tier > 0 ? `tier ${upstream.tier}` : ''));
  name.setAttribute('role', 'rowheader');
  name.setAttribute('scope', 'row');
  const standing = element('td', 'state', element('span', `badge ${state.level}`, `${state.mark} ${state.word}`),
    upstream.reason && upstream.reason !== state.word ? element('div', 'quiet', spaced(upstream.reason)) : '');
  standing.setAttribute('role', 'cell');
  const missing = upstream.unsupported_methods;
  const budget = cell('Budget', ...budgetOf(upstream).map((text) => element('div', '', text)));
  budget.className = 'words';
  const latency = upstream.latency_ms;
  const row = element('tr', '', name, standing,
    cell('Latency', latency.p50 === null ? '-' : `${milliseconds(latency.p50)} / ${milliseconds(latency.p95)}`),
    cell('Success', upstream.success_rate === null || isSilent(upstream) ? '-' : percent(upstream.success_rate)),
    cell('Limited', percent(upstream.throttled_share)),
    cell('Behind', distanceOf(upstream, chain)),
    cell('Score', upstream.state === 'fit' ? upstream.score.toFixed(2) : '-'),
    cell('In flight', grouped(upstream.in_flight)),
    cell('Batch', upstream.batch_limit === null ? 'not known' : count(upstream.batch_limit, 'call')),
    budget);
  row.setAttribute('role', 'row');
  if (missing.length > 0) standing.append(element('div', 'quiet', `lacks ${missing.join(', ')}`));
  return row;
}

const COLUMNS = ['Upstream', 'State', 'Latency, 50/95 %', 'Success', 'Limited', 'Behind', 'Score', 'In flight', 'Batch', 'Budget'];

function skeleton(chain) {
  const heads = COLUMNS.map((title) => {
    const head = element('th', '', title);
    head.setAttribute('role', 'columnheader');
    head.setAttribute('scope', 'col');
    return head;
  });
  const titles = element('tr', '', ...heads);
  titles.setAttribute('role', 'row');
  const table = element('table', '', element('thead', '', titles), element('tbody', ''));
  table.setAttribute('role', 'table');
  table.setAttribute('aria-label', `Upstreams of ${chain.name}`);
  const verdict = element('div', 'verdict', element('h2', ''), element('p', 'users'));
  verdict.setAttribute('role', 'status');
  const section = element('section', 'chain', verdict, element('ul', 'problems'), element('div', 'facts'),
    element('div', 'graphs'), element('div', 'rows', table));
  section.id = `chain-${chain.name}`;
  section.setAttribute('aria-label', `Chain ${chain.name}`);
  return section;
}

const sections = new Map();
function show(chain, verdict) {
  const section = sections.get(chain.name) ?? skeleton(chain);
  sections.set(chain.name, section);
  const part = (name) => section.querySelector(name);
  part('.verdict').className = `verdict ${verdict.level}`;
  fill(part('h2'), `${verdict.mark} ${chain.name}: ${verdict.headline}`,
    held() ? element('span', 'held', ` (${held()})`) : '');
  fill(part('.users'), verdict.feel);
  fill(part('.problems'), ...problemsOf(verdict.troubles));
  part('.problems').hidden = verdict.troubles.length === 0;
  fill(part('.facts'), ...factsOf(chain, verdict.serving));
  fill(part('.graphs'), ...graphsOf(chain));
  fill(part('tbody'), ...chain.upstreams.map((upstream) => rowOf(upstream, chain)));
  return section;
}

function showAll(status) {
  const judged = status.chains
    .map((chain) => ({chain, verdict: judge(chain, status.draining)}))
    .sort((a, b) => RANK[b.verdict.level] - RANK[a.verdict.level]);
  const shown = judged.map(({chain, verdict}) => show(chain, verdict));
  for (const name of [...sections.keys()]) {
    if (!status.chains.some((chain) => chain.name === name)) sections.delete(name);
  }
  const main = byId('chains');
  if (shown.length !== main.children.length || shown.some((section, i) => section !== main.children[i])) {
    main.replaceChildren(...shown);
  }
  byId('overview').hidden = judged.length < 2;
  fill(byId('overview'), ...judged.map(({chain, verdict}) => {
    const link = element('a', verdict.level, `${verdict.mark} ${chain.name}`);
    link.href = `#chain-${chain.name}`;
    return link;
  }));
  const away = turnedAway(status.unrouted);
  byId('turned-away').hidden = away === null;
  fill(byId('turned-away'), away === null ? '' : `\u2715 ${away}.`);
  const level = worst(judged.map(({verdict}) => verdict.level));
  const worstChain = judged[0];
  const standing = worstChain && level !== 'good'
    ? `${worstChain.verdict.mark} ${worstChain.chain.name}: ${worstChain.verdict.headline}`
    : away === null ? '\u2713 all well' : `\u2715 ${away}`;
  document.title = `${held() ? `${held()}: ` : ''}${standing} - weir`;
  fill(byId('about'), `version ${status.version}, up for ${span(status.uptime_seconds)}`);
}

// Evidence: what nobody has to look at in the first ten seconds.

function list(id, title, items) {
  const box = byId(id);
  fill(box.querySelector('summary'), title);
  fill(box.querySelector('ul'), ...(items.length > 0 ? items : [element('li', 'quiet', 'none')]));
}

function showWrites(writes) {
  const newest = writes.length > 0 ? `; the latest ${ago(writes[0].at)}` : '';
  list('writes', `Transactions of unknown outcome: ${grouped(writes.length)}${newest}`, writes.map((write) =>
    element('li', '', moment(write.at), `, ${write.chain}: `, write.hash
      ? element('span', 'code', write.hash) : `${write.method}, sent to ${write.upstream}, which has no hash`)));
}

function showDisagreements(all) {
  const newest = [...all].reverse();
  const latest = newest.length > 0 ? `; the latest ${ago(newest[0].at)}` : '';
  list('disagreements', `Disagreements between upstreams: ${grouped(all.length)}${latest}`, newest.slice(0, 50).map((each) =>
    element('li', '', moment(each.at), `, ${each.chain}: `, element('b', '', spaced(each.kind)),
      ` by ${each.upstream}${each.other_upstream ? ` against ${each.other_upstream}` : ''}`,
      each.number === null ? ' ' : `, block ${grouped(each.number)} `,
      element('span', 'code', [shortHash(each.hash), shortHash(each.other_hash)].filter(Boolean).join(' / ')),
      each.detail ? ` ${each.detail}` : '')));
}

function showShapes(shapes) {
  list('shapes', `Replies that no rule knows: ${grouped(shapes.length)}`, shapes.slice(0, 50).map((each) =>
    element('li', '', moment(each.last_seen), `, ${each.chain} / ${each.upstream}: `,
      `${count(each.count, 'time')}, status ${each.status}, code ${each.code ?? 'none'}: `,
      element('span', 'code', each.wording))));
}

// Polling.

async function ask(path) {
  const response = await fetch(path, {cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS)});
  if (!response.ok) throw new Error(`weir refuses to tell (status ${response.status})`);
  return response.json();
}

let polls = 0;
let latest = null;      // what weir said last
let answeredAt = null;  // and when
let evidence = {disagreements: [], observations: []};  // as it was fetched last
let paused = false;
let timer = null;
let asking = false;

const held = () => (paused && answeredAt ? `paused at ${clock(answeredAt)}` : '');

// A browser's own words for a failed fetch tell nobody anything.
function failureOf(error) {
  if (error.name === 'TimeoutError') return `weir does not answer within ${span(PATIENCE_MS / 1000)}`;
  if (error.name === 'SyntaxError') return 'what answers here is not weir, or its answer was cut off';
  return error.name === 'Error' ? error.message : 'weir does not answer';
}

function showFailure(error) {
  const since = answeredAt ? `; this is how it stood at ${clock(answeredAt)}` : '';
  byId('stale').hidden = false;
  fill(byId('stale'), `\u2715 ${failureOf(error)}${since}.`);
  document.body.classList.add('stale');
  document.title = '\u2715 no answer - weir';
}

async function poll() {
  if (asking) return;
  asking = true;
  try {
    const status = await ask('/api/status');
    latest = status;
    answeredAt = new Date();
    showAll(status);
    showWrites(status.unknown_writes);
    if (polls++ % EVIDENCE_EVERY === 0) {
      const {disagreements} = await ask('/api/disagreements');
      const {observations} = await ask('/api/observations');
      evidence = {disagreements, observations};
      byId('evidence').hidden = false;
    }
    showDisagreements(evidence.disagreements);  // anew each time, for their ages
    showShapes(evidence.observations);
    byId('stale').hidden = true;
    document.body.classList.remove('stale');
    fill(byId('updated'), `updated ${clock(answeredAt)}`);
  } catch (error) {
    showFailure(error);
  } finally {
    asking = false;
    clearTimeout(timer);
    if (!paused) timer = setTimeout(poll, POLL_MS);
  }
}

byId('pause').addEventListener('click', () => {
  paused = !paused;
  byId('pause').setAttribute('aria-pressed', String(paused));
  fill(byId('pause'), paused ? 'Resume' : 'Pause');
  if (latest !== null && byId('stale').hidden) showAll(latest);
  if (!paused) poll();
  else clearTimeout(timer);
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && !paused) poll();
});
poll();
