// The alert rules and the dashboard: what they name exists, and a real Prometheus sees every fault come
// and go.
import assert from 'node:assert/strict';
import {once} from 'node:events';
import {readFileSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import {Wallet} from 'ethers';
import {ACCOUNTS} from './lib/anvil.mjs';
import {atEnd} from './lib/cleanup.mjs';
import {needsGateway, startDemo, startGateway} from './lib/gateway.mjs';
import {needsPrometheus, promtool, repository, rules, startPrometheus, temporaryFolder} from './lib/prometheus.mjs';
import {startProvider} from './lib/provider.mjs';
import {until} from './lib/wait.mjs';

const text = (...parts) => readFileSync(path.join(repository, ...parts), 'utf8');
const dashboard = JSON.parse(text('deploy', 'grafana', 'weir.json'));
const panels = dashboard.panels.filter((panel) => panel.type !== 'row');
const alerts = [...text('deploy', 'prometheus', 'alerts.yaml').matchAll(/- alert: (\w+)/g)].map((match) => match[1]);

// What Grafana would send.
const filled = (query) => query
  .replaceAll('$__rate_interval', '1m')
  .replace(/\$\{?\w+\}?/g, '.*');

test('the rules hold for Prometheus, and fire when they should', needsPrometheus, () => {
  assert.match(promtool('check', 'rules', rules), /SUCCESS/);
  promtool('test', 'rules', path.join(repository, 'tests/data/prometheus/alerts_test.yaml'));
});

test('every query of the dashboard is one', needsPrometheus, (t) => {
  const queries = panels.flatMap((panel) => panel.targets.map((target) => target.expr));
  assert.ok(queries.length > 20);
  const file = path.join(temporaryFolder(t), 'queries.yaml');
  const records = queries.map((query, i) => ({record: `query:${i}`, expr: filled(query)}));
  writeFileSync(file, JSON.stringify({groups: [{name: 'queries', rules: records}]}));
  assert.match(promtool('check', 'rules', file), new RegExp(`${queries.length} rules found`));
});

test('the dashboard is whole', () => {
  const ids = dashboard.panels.map((panel) => panel.id);
  assert.equal(new Set(ids).size, ids.length);
  const taken = new Set();
  for (const {title, gridPos: {x, y, w, h}} of dashboard.panels) {
    assert.ok(x >= 0 && x + w <= 24, title);
    for (let column = x; column < x + w; ++column) {
      for (let line = y; line < y + h; ++line) {
        const place = `${column},${line}`;
        assert.ok(!taken.has(place), `${title} lies on another panel`);
        taken.add(place);
      }
    }
  }
  for (const panel of panels) {
    assert.ok(panel.title && panel.targets.length > 0);
    assert.equal(panel.datasource.uid, '${datasource}');
  }
});

test('every alert has a section that says what to do', () => {
  const sections = [...text('docs', 'operations.md').matchAll(/^### (\w+)$/gm)].map((match) => match[1]);
  for (const name of alerts) assert.ok(sections.includes(name), name);
  for (const [, anchor] of text('deploy', 'prometheus', 'alerts.yaml').matchAll(/operations\.md#(\w+)/g)) {
    assert.ok(alerts.some((name) => name.toLowerCase() === anchor), anchor);
  }
});

// `{name: Map(label to Set(values))}` of a page in the text format.
function families(page) {
  const found = new Map();
  for (const [, name, labels] of page.matchAll(/^(\w+)(?:\{(.*?)\})? \S+$/gm)) {
    const known = found.get(name) ?? new Map();
    found.set(name, known);
    for (const [, label, value] of (labels ?? '').matchAll(/(\w+)="([^"]*)"/g)) {
      if (!known.has(label)) known.set(label, new Set());
      known.get(label).add(value);
    }
  }
  return found;
}

test('every metric, label and value that is named is there in a running weir', {timeout: 60_000, ...needsGateway}, async (t) => {
  const weir = await startDemo(t);
  const live = families(await (await fetch(`${weir.admin}/metrics`)).text());
  const queries = [
    ...panels.flatMap((panel) => panel.targets.map((target) => target.expr)),
    ...dashboard.templating.list.map((variable) => variable.definition ?? ''),
    ...[...text('deploy', 'prometheus', 'alerts.yaml').matchAll(/expr: (?:\|-\n((?: {10}.*\n)+)|(.*))/g)].map((match) => match[1] ?? match[2]),
  ];
  const FROM_PROMETHEUS = ['instance', 'job'];
  let checked = 0;
  for (const query of queries) {
    for (const [, name, selectors] of query.matchAll(/\b((?:weir|process)_\w+)(?:\{(.*?)\})?/g)) {
      assert.ok(live.has(name), `${name} of ${query}`);
      for (const [, label, operator, value] of (selectors ?? '').matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)) {
        if (FROM_PROMETHEUS.includes(label)) continue;
        assert.ok(live.get(name).has(label), `${name} has no label ${label}`);
        if (value.includes('$')) continue;
        for (const each of operator === '=~' ? value.split('|') : [value]) {
          assert.ok(live.get(name).get(label).has(each), `${name}{${label}="${each}"}`);
        }
      }
      ++checked;
    }
  }
  assert.ok(checked > 30);
});

// Three nodes with one chain of two blocks a second, and what is wrong with each.
async function startNodes(t) {
  const start = Date.now();
  const world = {limited: false, dropsWrites: false, garbage: false, slow: false, broken: false};
  const nodes = [];
  for (let i = 0; i < 3; ++i) {
    const node = {chainId: 1, stuckAt: null, fork: false, locked: false, limited: false};
    const height = () => node.stuckAt ?? 1000 + Math.floor((Date.now() - start) / 500);
    const block = (number) => ({
      number: '0x' + number.toString(16),
      hash: '0x' + (node.fork ? 'f' : '0') + number.toString(16).padStart(63, '0'),
      parentHash: '0x' + (node.fork ? 'f' : '0') + (number - 1).toString(16).padStart(63, '0'),
      timestamp: '0x' + Math.floor(Date.now() / 1000).toString(16),
      transactions: [],
    });
    node.stick = () => (node.stuckAt = height());
    const answers = {
      eth_chainId: () => ({result: '0x' + node.chainId.toString(16)}),
      eth_getBlockByNumber: ([tag]) => ({result: block(/^0x/.test(tag) ? Number(tag) : height())}),
      eth_getTransactionByHash: () => ({result: null}),
      eth_getTransactionReceipt: () => ({result: null}),
      eth_sendRawTransaction: () => (world.dropsWrites ? {drop: true} : {error: {code: -32000, message: 'insufficient funds'}}),
      eth_gasPrice: () =>
        world.limited ? {http: 429, headers: {'retry-after': '1'}, body: 'slow down'}
        : world.slow ? {result: '0x1', delay: 500}
        : world.garbage ? {http: 200, body: 'nonsense'}
        : world.broken ? {error: {code: -32603, message: 'Internal error'}}
        : {result: '0x1'},
    };
    const provider = await startProvider(t, ({method, params}) =>
      node.locked ? {http: 401, body: 'invalid api key'}
      : node.limited ? {http: 429, headers: {'retry-after': '5'}, body: 'slow down'}
      : (answers[method] ?? (() => ({result: '0x1'})))(params));
    nodes.push(Object.assign(node, {url: provider.url}));
  }
  return {world, nodes};
}

const post = async (url, method, params = [], patience = 10_000) => {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(patience),
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({jsonrpc: '2.0', id: 1, method, params}),
  });
  return response.json();
};

// Reads flow until the test ends.
function keepReading(t, url, world) {
  let running = true;
  const reading = (async () => {
    while (running) {
      await post(url(), 'eth_gasPrice', [], world.slow ? 100 : undefined).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  atEnd(t, async () => {
    running = false;
    await reading;
  });
}

// What Prometheus scrapes: the metrics of whatever gateway stands there at the moment.
async function startTarget(t, gateway) {
  const server = http.createServer(async (request, response) => {
    try {
      const page = await fetch(`${gateway().admin}/metrics`);
      response.end(await page.text());
    } catch {
      response.writeHead(502).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.close();
    server.closeAllConnections?.();
  });
  return `127.0.0.1:${server.address().port}`;
}

test('every fault raises its alert, and its end ends it', {timeout: 240_000, ...needsGateway, ...needsPrometheus}, async (t) => {
  const {world, nodes} = await startNodes(t);
  const start = (unitsPerDay) => startGateway(t, {
    chainId: 1,
    chain: {
      block_time: '500ms',
      head: {poll_interval: '250ms', chain_check_interval: '1s'},
      rate_limits: {max_wait: '0ms'},
      circuit: {open_for: '1s'},
      writes: {reconcile_timeout: '500ms'},
      timeouts: {request: '2s', attempt: '1s'},
    },
    upstreams: nodes.map((node, i) => ({name: 'abc'[i], url: node.url,
      rate: {calls_per_second: 1000, units_per_day: unitsPerDay ?? 0}})),
  });
  let weir = await start();
  const prometheus = await startPrometheus(t, await startTarget(t, () => weir));
  keepReading(t, () => weir.url, world);

  // The alert comes with its labels while the fault lasts, and goes when it is over.
  const shown = new Set();
  const fault = async (name, labels, begin, end) => {
    await begin();
    await until(`${name} fires`, async () => (await prometheus.firing(name)).some((each) =>
      Object.entries(labels).every(([label, value]) => each[label] === value)), {within: 40_000, every: 200});
    await end();
    await until(`${name} is over`, async () => (await prometheus.firing(name)).length === 0, {within: 40_000, every: 200});
    shown.add(name);
  };
  const chain = 'ethereum';
  await until('nothing fires at first', async () => (await prometheus.allFiring()).length === 0);

  await fault('WeirWrongChain', {chain, upstream: 'b'}, () => (nodes[1].chainId = 137), () => (nodes[1].chainId = 1));
  await fault('WeirUpstreamLagging', {chain, upstream: 'b'}, () => nodes[1].stick(), () => (nodes[1].stuckAt = null));
  await fault('WeirUpstreamLimited', {chain, upstream: 'b'}, () => (nodes[1].limited = true), () => (nodes[1].limited = false));
  await fault('WeirHashDisagreement', {chain}, () => (nodes[1].fork = true), () => (nodes[1].fork = false));
  await fault('WeirAllUpstreamsLimited', {chain}, () => (world.limited = true), () => (world.limited = false));
  await fault('WeirErrorShare', {chain}, () => (world.garbage = true), () => (world.garbage = false));
  await fault('WeirClientsGiveUp', {chain}, () => (world.slow = true), () => (world.slow = false));
  await fault('WeirErrorShare', {chain}, () => (world.broken = true), () => (world.broken = false));
  await fault('WeirUpstreamOut', {chain, upstream: 'b'}, () => (nodes[1].locked = true), () => (nodes[1].locked = false));
  await fault('WeirNotReady', {chain}, () => nodes.forEach((node) => (node.chainId = 137)),
    () => nodes.forEach((node) => (node.chainId = 1)));
  const wallet = new Wallet(ACCOUNTS[0].key);
  await fault('WeirUnknownBroadcasts', {chain}, async () => {
    world.dropsWrites = true;
    const raw = await wallet.signTransaction({chainId: 1, type: 2, nonce: 0, to: ACCOUNTS[1].address, gasLimit: 21000, maxFeePerGas: 1, maxPriorityFeePerGas: 1});
    const {error} = await post(weir.url, 'eth_sendRawTransaction', [raw]);
    assert.equal(error.code, -32050);
  }, () => (world.dropsWrites = false));
  await fault('WeirAbsent', {job: 'weir'}, () => weir.kill(), async () => (weir = await start()));
  await fault('WeirQuotaNearlySpent', {chain}, async () => {
    await weir.kill();
    weir = await start(1000);
  }, async () => {
    await weir.kill();
    weir = await start();
  });
  assert.deepEqual([...shown].sort(), [...alerts].sort(), 'every alert of the file was shown');
  await until('nothing fires at last', async () => (await prometheus.allFiring()).length === 0, {within: 30_000});
});
