// The status page in a real browser: what somebody on call sees, and that nothing hostile runs in it.
// With WEIR_SCREENSHOTS set to a folder each state is kept there as a picture.
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import {atEnd} from './lib/cleanup.mjs';
import {Browser, needsBrowser} from './lib/browser.mjs';
import {needsGateway, startDemo, startGateway} from './lib/gateway.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {until} from './lib/wait.mjs';

const options = {timeout: 120_000, ...needsGateway, ...needsBrowser};
const SIZES = [
  {name: 'wide', width: 1280, scheme: 'light'},
  {name: 'wide-dark', width: 1280, scheme: 'dark'},
  {name: 'narrow', width: 360, scheme: 'light'},
  {name: 'narrow-dark', width: 360, scheme: 'dark'},
];

// Widths at which the table was or might be cut off.
const WIDTHS = [320, 800, 950, 1000, 1100, 1152, 1201, 1280, 2560];

const call = (method) => JSON.stringify({jsonrpc: '2.0', id: 1, method, params: []});
async function post(url, method = 'eth_gasPrice') {
  const response = await fetch(url, {method: 'POST', headers: {'content-type': 'application/json'}, body: call(method)});
  await response.text();
  return response.status;
}
const send = (url, times) => Promise.all(Array.from({length: times}, () => post(url)));
const status = async (weir) => (await fetch(`${weir.admin}/api/status`)).json();
const upstreamOf = async (weir, name) => (await status(weir)).chains[0].upstreams.find((each) => each.name === name);

function startNode(t, answer = {}, chainId = 1) {
  return startProvider(t, ({method}) => (answer[method] ?? nodeBasics(chainId)[method] ?? (() => ({result: '0x1'})))());
}

// Three upstreams: a, b and c; `of` says what is odd about b.
async function startThree(t, of = {}) {
  const nodes = [await startNode(t), await startNode(t, of.answer, of.chainId), await startNode(t)];
  const weir = await startGateway(t, {
    chainId: 1,
    chain: {},
    upstreams: nodes.map((node, i) => ({name: of.names?.[i] ?? 'abc'[i], url: node.url, ...of.more})),
  });
  return {weir, nodes};
}

async function open(t, weir) {
  const browser = await Browser.start(t);
  const page = await browser.open(`${weir.admin}/status`);
  await until('the page shows a chain', () => page.text('#chains h2'));
  return page;
}

// The page shows it before it has asked more than twice, however slow the machine is.
async function withinTwoPolls(page, what, condition) {
  const before = await page.evaluate('polls');
  await until(what, condition);
  const polls = (await page.evaluate('polls')) - before;
  assert.ok(polls <= 2, `${what}: after ${polls} polls`);
}

// At every width each value is within its box, and the page no wider than the window.
async function fits(page) {
  for (const width of WIDTHS) {
    await page.look({width});
    assert.deepEqual(await page.evaluate(`(() => {
      const problems = document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : [];
      const right = document.querySelector('.chain').getBoundingClientRect().right;
      for (const node of document.querySelectorAll('.chain tbody *, .chain h2, .chain .facts *')) {
        if (node.getBoundingClientRect().right > right + 0.5) problems.push(node.innerText);
      }
      return problems;
    })()`), [], `${width} wide`);
    if (process.env.WEIR_SCREENSHOTS) await page.screenshot(path.join(process.env.WEIR_SCREENSHOTS, `width-${width}.png`));
  }
}

// A call a tick, whether or not those before it were answered; until the test ends.
function keepCalling(t, weir, every = 60) {
  const leaving = new AbortController();
  const timer = setInterval(() => fetch(weir.url, {
    method: 'POST', headers: {'content-type': 'application/json'}, body: call('eth_gasPrice'), signal: leaving.signal,
  }).then((response) => response.text()).catch(() => {}), every);
  atEnd(t, () => {
    clearInterval(timer);
    leaving.abort();
  });
}
const headline = (page, what, pattern) => until(what, async () => pattern.test(await page.text('h2')), {within: 60_000});

// Every look: nothing sticks out, text can be read, and a picture for people.
async function looks(page, name) {
  for (const size of SIZES) {
    await page.look(size);
    const problems = await page.evaluate(`(() => {
      const problems = [];
      if (document.documentElement.scrollWidth > innerWidth) problems.push('wider than the window');
      for (const box of document.querySelectorAll('.chain, details')) {
        if (box.scrollWidth > box.clientWidth) problems.push(box.id + ': wider than its box');
      }
      const channels = (color) => color.match(/[0-9.]+/g).map(Number);
      const light = ([r, g, b]) => {
        const part = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
        return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
      };
      const ground = (node) => {
        for (; node; node = node.parentElement) {
          const color = channels(getComputedStyle(node).backgroundColor);
          if (color.length === 3 || color[3] > 0) return color;
        }
        return [255, 255, 255];
      };
      for (const node of document.querySelectorAll('h1, h2, h3, p, li, span, th, td, b, a, button, summary, div')) {
        if (!node.innerText || node.children.length > 0) continue;
        const [a, b] = [light(channels(getComputedStyle(node).color)), light(ground(node))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) problems.push(node.innerText + ': contrast ' + contrast.toFixed(2));
      }
      return problems;
    })()`);
    assert.deepEqual(problems, [], size.name);
    if (process.env.WEIR_SCREENSHOTS) {
      await page.screenshot(path.join(process.env.WEIR_SCREENSHOTS, `${name}-${size.name}.png`));
    }
  }
}

test('all well', options, async (t) => {
  const {weir} = await startThree(t, {names: ['a-provider-with-a-name-as-long-as-they-come'], more: {rate: {calls_per_second: 200, units_per_second: 4000, units_per_day: 300_000_000}}});
  await until('all are fit', async () => (await status(weir)).chains[0].upstreams.every((each) => each.state === 'fit'));
  await send(weir.url, 30);
  const page = await open(t, weir);
  assert.match(await page.text('h2'), /^\u2713 .*: all well$/);
  await until('it says that users are served', async () => /none of 30 calls failed/.test(await page.text('.users')));
  assert.equal(await page.evaluate(`document.querySelector('.problems').hidden`), true);
  assert.match(await page.text('.facts'), /can serve 3 of 3/);
  assert.match(await page.text('tbody'), /200 calls\/s\n4 000 units\/s\n100 % of 300 000 000 units left today, renewed in/);
  await until('the title says so', async () => /all well/.test(await page.evaluate('document.title')));
  await until('it says when', async () => /^updated \d\d:\d\d:\d\d UTC$/.test(await page.text('#updated')));
  await looks(page, 'well');
  await fits(page);

  await page.look({width: 1280});
  await page.evaluate(`document.getElementById('pause').click()`);
  assert.match(await page.text('h2'), /: all well \(paused at \d\d:\d\d:\d\d UTC\)$/);
  assert.match(await page.evaluate('document.title'), /^paused at \d\d:\d\d:\d\d UTC: .*all well/);
  await page.evaluate(`document.getElementById('pause').click()`);
  assert.doesNotMatch(await page.text('h2'), /paused/);
});

test('all hang', options, async (t) => {
  let hung = false;
  const answer = {eth_gasPrice: () => ({result: '0x1', ...(hung && {delay: 60_000})})};
  const nodes = [await startNode(t, answer), await startNode(t, answer), await startNode(t, answer)];
  const weir = await startGateway(t, {chainId: 1, chain: {}, upstreams: nodes.map(({url}) => ({url}))});
  const page = await open(t, weir);
  keepCalling(t, weir);
  await until('users are served', async () => /^Users are served: none of \d+ calls/.test(await page.text('.users')));
  hung = true;
  await until('calls wait', async () => (await status(weir)).chains[0].in_flight.late >= 5);
  await withinTwoPolls(page, 'the page says so',
    async () => /^\u2715 .*: (users feel it|down: no call is answered).*: \d+ calls wait without an answer, the oldest for \d+ s$/.test((await page.text('h2')).replace('; ', ': ')));
  assert.match(await page.text('.users'), /^Users feel it now: .*\d+ calls wait without an answer, the oldest for \d+ s\./);
  assert.match(await page.text('.facts'), /in flight \d+ calls, the oldest for \d+ s/);
  await headline(page, 'nobody is answered any more', /down: /);
  await looks(page, 'hang');
});

test('all close their connections, and recover', options, async (t) => {
  let broken = false;
  const all = Object.fromEntries(Object.entries(nodeBasics(1)).map(([name, well]) => [name, () => (broken ? {drop: true} : well())]));
  const answer = {...all, eth_gasPrice: () => (broken ? {drop: true} : {result: '0x1'})};
  const nodes = [await startNode(t, answer), await startNode(t, answer), await startNode(t, answer)];
  const weir = await startGateway(t, {chainId: 1, chain: {head: {chain_check_interval: '5s'}}, upstreams: nodes.map(({url}) => ({url}))});
  const page = await open(t, weir);
  keepCalling(t, weir);
  await until('users are served', async () => /^Users are served: none of \d\d+ calls/.test(await page.text('.users')));
  broken = true;
  await until('nobody can serve', async () => (await status(weir)).chains[0].upstreams.every(({state}) => state !== 'fit'));
  await withinTwoPolls(page, 'the page says so', async () => /^\u2715 .*: down: /.test(await page.text('h2')));
  assert.match(await page.evaluate('document.title'), /down: /);
  await until('all of the last seconds failed', async () => /^Users feel it now: all \d+ calls failed in the last \d+ s\./.test(await page.text('.users')));
  assert.match(await page.text('h2'), /down: /);
  await looks(page, 'closed');
  broken = false;
  await headline(page, 'it serves again, and says what was', /^\u25b2 .*: serving again; \d+ calls failed in the last minute/);
  assert.match(await page.text('.users'), /^Now: none of \d+ calls failed in the last \d+ s\. In the last minute of \d+ calls \d+ failed\.$/);
});

test('clients that hang up are no outage', options, async (t) => {
  const node = await startNode(t, {eth_call: () => ({result: '0x1', delay: 60_000})});
  const weir = await startGateway(t, {chainId: 1, chain: {}, upstreams: [{url: node.url}]});
  const page = await open(t, weir);
  await send(weir.url, 3);
  await headline(page, 'all is well', /: all well$/);
  await Promise.all(Array.from({length: 30}, () => fetch(weir.url, {
    method: 'POST', headers: {'content-type': 'application/json'}, body: call('eth_call'), signal: AbortSignal.timeout(500),
  }).catch(() => {})));
  await headline(page, 'it says who gives up', /^\u25b2 .*: clients give up: \d+ % of calls, before their answer$/);
  assert.match(await page.text('.users'), /none of 3 calls failed.*30 calls given up by their clients/);
  const {latest} = (await status(weir)).chains[0].recent;
  assert.deepEqual([latest.failed, latest.limited, latest.gone], [0, 0, 30]);
  await looks(page, 'hung-up');
});

test('whose limit it is', options, async (t) => {
  const token = 'bot-bot-bot-bot-bot-bot-bot-bot';
  const node = await startNode(t);
  const weir = await startGateway(t, {
    chainId: 1, chain: {}, upstreams: [{url: node.url}],
    settings: {clients: [{name: 'bot', tokens: [token], rate: {calls_per_second: 1, burst: 1}}]},
  });
  const page = await open(t, weir);
  const headers = {'content-type': 'application/json', authorization: `Bearer ${token}`};
  const calls = () => Promise.all(Array.from({length: 20}, () => fetch(weir.url, {method: 'POST', headers, body: call('eth_gasPrice')}).then((r) => r.text())));
  await until('the page names the client', async () => {
    await calls();
    return /^\u25b2 .*: client bot is over the rate set for it$/.test(await page.text('h2'));
  });
  assert.match(await page.text('.users'), /told to wait by a rate of their own: bot \(\d+ calls?\)/);
});

test('requests that are turned away before their chain is known', options, async (t) => {
  const node = await startNode(t);
  const other = await startNode(t, {}, 10);
  const weir = await startGateway(t, {
    chainId: 1, chain: {name: 'one'}, upstreams: [{url: node.url}],
    settings: {server: {max_connections: 2}, chains: [{name: 'other', chain_id: 10, upstreams: [{url: other.url}]}]},
  });
  const page = await open(t, weir);
  assert.equal(await page.text('#turned-away'), '');
  const agent = new http.Agent({keepAlive: true});
  atEnd(t, () => agent.destroy());
  const get = (path) => new Promise((resolve, reject) => {
    const request = http.request(new URL(path, weir.url), {method: 'POST', agent, headers: {'content-type': 'application/json'}}, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    request.on('error', reject);
    request.end(call('eth_gasPrice'));
  });
  const statuses = await Promise.all(Array.from({length: 6}, () => get('/one')));
  assert.equal(statuses.filter((code) => code === 503).length, 4);
  await withinTwoPolls(page, 'the page says so', async () =>
    (await page.text('#turned-away')) === '\u2715 4 requests of the last minute were turned away: weir is overloaded.');
  assert.match(await page.evaluate('document.title'), /turned away/);
});

test('it drains', options, async (t) => {
  const node = await startNode(t);
  const weir = await startGateway(t, {chainId: 1, chain: {}, upstreams: [{url: node.url}], settings: {server: {drain_delay: '60s'}}});
  const page = await open(t, weir);
  process.kill(weir.pid, 'SIGTERM');
  await until('it says so', async () => (await status(weir)).draining);
  await withinTwoPolls(page, 'the page says so', async () => /draining: weir ends soon/.test(await page.text('h2')));
  assert.match(await page.evaluate('document.title'), /draining/);
});

test('more in trouble than a headline has room for', options, async (t) => {
  const nodes = [await startNode(t)];
  for (let i = 0; i < 5; ++i) nodes.push(await startNode(t, {}, 137));
  const weir = await startGateway(t, {chainId: 1, chain: {}, upstreams: nodes.map(({url}, i) => ({url, name: `n${i}`}))});
  const page = await open(t, weir);
  await headline(page, 'all of them count', /serving; trouble with n1, n2, n3 and 2 more$/);
});

test('one throttled', options, async (t) => {
  const {weir} = await startThree(t, {
    answer: {eth_gasPrice: () => ({http: 429, body: 'slow down', headers: {'retry-after': '60'}})},
  });
  await until('b rests', async () => {
    await send(weir.url, 5);
    return (await upstreamOf(weir, 'b')).state === 'cooling_down';
  });
  const page = await open(t, weir);
  assert.match(await page.text('h2'), /^\u25b2 .*: serving; trouble with b$/);
  assert.match(await page.text('.users'), /^Users do not feel it: none of \d+ calls failed/);
  assert.match(await page.text('.problems'), /^\u25b2 rate limited b: for \d+ s more\./);
  await looks(page, 'throttled');
});

test('one on the wrong chain', options, async (t) => {
  const {weir} = await startThree(t, {chainId: 137});
  await until('b is found out', async () => (await upstreamOf(weir, 'b')).state === 'wrong_chain');
  await send(weir.url, 20);
  const page = await open(t, weir);
  assert.match(await page.text('h2'), /^\u25b2 .*: serving; trouble with b$/);
  assert.match(await page.text('.problems'), /^\u2715 wrong chain b: says chain id 137, not 1\./);
  assert.match(await page.text('.facts'), /can serve 2 of 3/);
  await until('the evidence is there', () => page.text('#disagreements summary'));
  assert.match(await page.text('#disagreements summary'), /: 1; the latest/);
  assert.match(await page.evaluate(`document.querySelector('#disagreements li').textContent`), /ago \(\d\d:\d\d:\d\d UTC\), /);
  await looks(page, 'wrong-chain');
});

// A chain of a block a second; `of` says what is odd about a node.
function blocksOf(of = {}) {
  const start = Date.now();
  const block = (number) => {
    const branch = of.fork ? 'f' : '0';
    const hash = (n) => '0x' + branch + n.toString(16).padStart(63, '0');
    return {number: '0x' + number.toString(16), hash: hash(number), parentHash: hash(number - 1),
      timestamp: '0x' + Math.floor(Date.now() / 1000).toString(16), transactions: []};
  };
  return {
    ...nodeBasics(1),
    eth_getBlockByNumber: () => ({result: block(1000 + Math.floor((Date.now() - start) / 1000) + (of.ahead ?? 0))}),
    eth_gasPrice: () => (of.error ? {error: of.error} : {result: '0x1'}),
  };
}

async function startChain(t, odd) {
  const nodes = [await startNode(t, blocksOf(odd)), await startNode(t, blocksOf()), await startNode(t, blocksOf())];
  return startGateway(t, {
    chainId: 1,
    chain: {block_time: '1s', head: {poll_interval: '500ms'}},
    upstreams: nodes.map((node, i) => ({name: 'abc'[i], url: node.url})),
  });
}

test('one on a fork, and back', options, async (t) => {
  const odd = {fork: true};
  const weir = await startChain(t, odd);
  await until('a is found out', async () => (await upstreamOf(weir, 'a')).apart);
  assert.equal((await upstreamOf(weir, 'a')).state, 'fit');
  assert.equal((await upstreamOf(weir, 'a')).reason, 'its blocks differ from the others\'');
  await send(weir.url, 20);
  const page = await open(t, weir);
  assert.match(await page.text('h2'), /^\u25b2 .*: serving; trouble with a$/);
  assert.match(await page.text('.problems'), /^\u2715 on a fork a: its blocks differ from the others'\. The others are preferred/);
  assert.match(await page.text('tbody tr'), /\u2715 on a fork/);
  await until('the evidence is there', () => page.text('#disagreements summary'));
  assert.match(await page.evaluate(`document.querySelector('#disagreements li').textContent`), /wrong network by a against [bc], block 1 \d\d\d /);
  const ages = () => page.evaluate(`document.querySelector('#disagreements time').textContent`);
  const age = await ages();
  await withinTwoPolls(page, 'its age goes on between two fetches', async () => (await ages()) !== age);
  const {disagreements} = await (await fetch(`${weir.admin}/api/disagreements`)).json();
  assert.ok(disagreements.length < 6 && disagreements.every((each) => each.upstream === 'a'), JSON.stringify(disagreements));
  assert.doesNotMatch(await (await fetch(`${weir.admin}/api/disagreements`)).text(), /"number":\d+\./);
  await looks(page, 'fork');
  odd.fork = false;
  await headline(page, 'all is well again', /: all well$/);
});

test('one implausibly far ahead', options, async (t) => {
  const weir = await startChain(t, {ahead: 5000});
  await until('a is found out', async () => (await upstreamOf(weir, 'a')).state === 'lagging');
  const page = await open(t, weir);
  assert.match(await page.text('.problems'), /^\u25b2 too far ahead a: its head is implausibly far ahead of the others\. It is not believed/);
  assert.doesNotMatch(await page.text('.problems'), /caught up/);
  assert.match(await page.text('tbody tr'), /[45] \d\d\d blocks ahead/);
  await looks(page, 'ahead');
});

test('nodes that are at the head and fail at every call', options, async (t) => {
  const error = {code: -32603, message: 'Internal error'};
  const nodes = [];
  for (let i = 0; i < 3; ++i) nodes.push(await startNode(t, {...nodeBasics(1), eth_gasPrice: () => ({error})}));
  const weir = await startGateway(t, {chainId: 1, chain: {}, upstreams: nodes.map(({url}) => ({url}))});
  await until('all are fit', async () => (await status(weir)).chains[0].upstreams.every((each) => each.state === 'fit'));
  const page = await open(t, weir);
  keepCalling(t, weir);
  await headline(page, 'it is down', /^\u2715 .*: down: all calls fail now$/);
  assert.match(await page.text('.users'), /^Users feel it now: all \d+ calls failed in the last \d+ s\./);
});

test('a plan that is spent', options, async (t) => {
  const {weir} = await startThree(t, {
    answer: {eth_gasPrice: () => ({http: 402, body: JSON.stringify({error: {code: -32000, message: 'monthly quota exceeded, upgrade your plan'}})})},
  });
  await until('b has spent it', async () => {
    await send(weir.url, 5);
    return (await upstreamOf(weir, 'b')).state === 'quota_spent';
  });
  const page = await open(t, weir);
  assert.match(await page.text('.problems'), /plan spent b: .*Raised, it serves again once you resume it: POST \/api\/upstreams\/ethereum\/b\/resume\./);
  await looks(page, 'spent');
});

test('everything down, then nothing there at all', options, async (t) => {
  const {weir, nodes} = await startThree(t);
  await send(weir.url, 20);
  const page = await open(t, weir);
  for (const node of nodes) await node.close();
  await until('the chain is down', async () => {
    await send(weir.url, 5);
    return (await status(weir)).chains[0].state === 'down';
  });
  await send(weir.url, 5);
  await withinTwoPolls(page, 'the page says so', async () => /^\u2715 .*: down: no upstream can serve$/.test(await page.text('h2')));
  assert.match(await page.text('.users'), /^Users feel it now: .*calls? .*failed in the last \d+ s\. In the last minute of \d+ calls/);
  assert.match(await page.text('.facts'), /can serve 0 of 3/);
  assert.doesNotMatch(await page.text('tbody'), /0 blocks|100 %\n/);
  assert.match(await page.evaluate('document.title'), /^\u2715 .*down/);
  await looks(page, 'down');
  await weir.kill();
  await until('the page says that it is old', async () => /weir does not answer; this is how it stood at \d\d:\d\d:\d\d UTC/.test(await page.text('#stale')));
});

test('a fault of the demo is on the page within two polls', options, async (t) => {
  const weir = await startDemo(t);
  await until('the stranger is found out', async () => (await upstreamOf(weir, 'stranger')).state === 'wrong_chain');
  const page = await open(t, weir);
  assert.match(await page.text('.problems'), /wrong chain stranger: says chain id 137, not 1/);
  assert.doesNotMatch(await page.text('.problems'), /throttler/);
  await until('the throttler rests', async () => {
    await send(weir.url, 10);
    return (await upstreamOf(weir, 'throttler')).state === 'cooling_down';
  });
  // Its rests are short: it is kept busy until the page has asked.
  await withinTwoPolls(page, 'the page names it', async () => {
    await send(weir.url, 10);
    return /(rate|often) limited throttler/.test(await page.text('.problems'));
  });
  const drain = await fetch(`${weir.admin}/api/upstreams/ethereum/laggard/drain`, {method: 'POST', headers: {'content-type': 'application/json'}});
  assert.equal(drain.status, 200);
  await withinTwoPolls(page, 'the page shows what an operator did', async () => /drained laggard/.test(await page.text('.problems')));
  await looks(page, 'demo');
});

test('everything can be reached by keyboard', options, async (t) => {
  const {weir} = await startThree(t);
  const page = await open(t, weir);
  await until('the evidence is there', () => page.text('#shapes summary'));
  const seen = [];
  for (let i = 0; i < 12 && !seen.includes('#shapes'); ++i) {
    await page.press('Tab');
    seen.push(await page.evaluate(`document.activeElement.id ? document.activeElement.id
      : '#' + (document.activeElement.closest('details')?.id ?? '')`));
  }
  assert.deepEqual(seen.slice(0, 4), ['pause', '#writes', '#disagreements', '#shapes']);
  assert.equal(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`), 'solid');
  await page.press('Enter');
  await until('it opens', () => page.evaluate(`document.getElementById('shapes').open`));
});

test('what providers say is text, whatever it is', options, async (t) => {
  const evil = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`;
  const {weir} = await startThree(t, {
    answer: {
      web3_sha3: () => ({error: {code: -39123, message: evil, data: evil}}),
      eth_syncing: () => ({error: {code: -32601, message: `the method ${evil} does not exist`}}),
    },
  });
  await until('somebody said something odd', async () => {
    await post(weir.url, 'web3_sha3');
    await post(weir.url, 'eth_syncing');
    return (await (await fetch(`${weir.admin}/api/observations`)).json()).observations.length > 0;
  });
  const page = await open(t, weir);
  await until('it is shown', async () => /: [1-9]/.test(await page.text('#shapes summary')));
  await page.evaluate(`document.getElementById('shapes').open = true`);
  assert.match(await page.text('#shapes'), /img/);
  assert.equal(await page.evaluate(`document.querySelectorAll('img, script').length`), 1, 'the page\'s own script');
  assert.equal(await page.evaluate('window.pwned'), undefined);

  // The same with every text of every answer replaced.
  await page.evaluate(`(() => {
    const evil = ${JSON.stringify(evil).replaceAll('<', '\\u003c')};
    const poison = (value) => typeof value === 'string' ? evil
      : Array.isArray(value) ? value.map(poison)
      : value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, poison(v)]))
      : value;
    const ask = window.fetch;
    window.fetch = async (...args) => {
      const answer = await ask(...args);
      const json = await answer.json();
      return {ok: true, json: async () => poison(json)};
    };
    polls = 0;
  })()`);
  await until('it is shown as text everywhere', () => page.evaluate(`document.body.innerText.split('window.pwned').length > 20`));
  assert.equal(await page.evaluate(`document.querySelectorAll('img, script').length`), 1);
  assert.equal(await page.evaluate('window.pwned'), undefined);

  // And were it ever markup, it would not run.
  await page.evaluate(`(() => {
    window.refused = [];
    document.addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
    const box = document.createElement('div');
    box.innerHTML = '\\u003cimg src="/nowhere" onerror="window.pwned=1">\\u003cp style="color:red" id="styled">x\\u003c/p>';
    const script = document.createElement('script');
    script.textContent = 'window.pwned = 1';
    document.body.append(box, script);
  })()`);
  await until('the browser refuses all of it', () => page.evaluate(
    `['img-src', 'script-src-attr', 'script-src-elem', 'style-src-attr'].every((each) => refused.includes(each))`));
  assert.equal(await page.evaluate('window.pwned'), undefined);
});
