// Providers that refuse or fail, and what an application notices of it: with each library at its
// defaults, with weir and without. WEIR_WRITE_DOCS=1 writes what was seen to docs/clients.md.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import test, {after} from 'node:test';
import {clients} from './lib/clients.mjs';
import {atEnd} from './lib/cleanup.mjs';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {until} from './lib/wait.mjs';

const CHAIN_ID = 31337;
const METHOD = 'eth_getBalance';
const BALANCE = {result: '0x2a'};
const PATIENCE = 15_000; // with a provider that never recovers

const later = (seconds) => new Date(Date.now() + 1000 * seconds).toUTCString();
const HTML = '<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>';

// What the primary does with the call.
const failures = {
  'HTTP 403': () => ({http: 403, body: 'Forbidden'}),
  'HTTP 429': () => ({http: 429, body: 'Too Many Requests'}),
  '429, Retry-After: 2': () => ({http: 429, body: 'slow down', headers: {'retry-after': '2'}}),
  '429, Retry-After: a date': () => ({http: 429, body: 'slow down', headers: {'retry-after': later(2)}}),
  'HTTP 500': () => ({http: 500, body: 'Internal Server Error'}),
  'HTTP 503': () => ({http: 503, body: 'Service Unavailable'}),
  '-32005 in a 200': () => ({error: {code: -32005, message: 'rate limit exceeded'}}),
  '-32007 in a 200': () => ({
    error: {code: -32007, message: '15/second request limit reached - reduce calls per second'},
  }),
  '429 in a 200': () => ({error: {code: 429, message: 'Too Many Requests'}}),
  '-32603': () => ({error: {code: -32603, message: 'Internal error'}}),
  'connection refused': null,
  'dropped connection': () => ({drop: true}),
  'Cloudflare 502, Retry-After: 60': () => ({
    http: 502,
    body: HTML,
    headers: {'content-type': 'text/html', 'retry-after': '60'},
  }),
};

// What is an answer, though no good one.
const answers = {
  '-32000 server error': () => ({error: {code: -32000, message: 'server error'}}),
  'a revert': () => ({error: {code: 3, message: 'execution reverted: no', data: '0x'}}),
};

const good = (t) => startProvider(t, ({method}) => answerOf(method, () => BALANCE));
const bad = (t, answer) => startProvider(t, ({method}) => answerOf(method, answer));
function answerOf(method, answer) {
  if (method === METHOD) return answer();
  return nodeBasics(CHAIN_ID)[method]?.() ?? {error: {code: -32601, message: 'method not found'}};
}

const tiers = (...providers) => providers.map(({url}, tier) => ({name: `u${tier}`, url, tier}));

// weir in front of a primary and a secondary, both of which it knows and has seen at the head.
async function startPair(t, primary, secondary) {
  const gateway = await startGateway(t, {
    chainId: CHAIN_ID,
    upstreams: tiers(primary, secondary),
    chain: {name: 'test'},
  });
  await until('both are fit', async () => {
    const status = await (await fetch(`${gateway.admin}/api/status`)).json();
    return status.chains[0].upstreams.every(({state}) => state === 'fit');
  });
  return gateway;
}

async function timed(action) {
  const start = Date.now();
  const outcome = await action().then(
    (value) => ({value}),
    (error) => ({error}),
  );
  return {...outcome, elapsed: Date.now() - start};
}

const seen = {}; // [failure][library] = {alone, through}
const keep = (failure, library, side, what) =>
  (((seen[failure] ??= {})[library] ??= {})[side] = what);

for (const [failure, answer] of Object.entries(failures)) {
  test(`${failure}: the application gets its value`, {timeout: 120_000, ...needsGateway}, async (t) => {
    for (const [library, make] of Object.entries(clients)) {
      await t.test(library, async (t) => {
        const primary = await bad(t, answer ?? (() => BALANCE));
        const secondary = await good(t);
        const gateway = await startPair(t, primary, secondary);
        if (!answer) await primary.close();
        const client = make(gateway.url);
        atEnd(t, () => client.end());
        const {value, error, elapsed} = await timed(client.balance);
        keep(failure, library, 'through', {requests: primary.count(METHOD) + secondary.count(METHOD), elapsed});
        assert.equal(value, 42n, error);
        assert.equal(primary.count(METHOD), answer ? 1 : 0, 'attempts at the primary');
        assert.equal(secondary.count(METHOD), 1, 'attempts at the secondary');
      });
    }
  });
}

for (const [name, answer] of Object.entries(answers)) {
  test(`${name} is an answer`, {timeout: 60_000, ...needsGateway}, async (t) => {
    for (const [library, make] of Object.entries(clients)) {
      await t.test(library, async (t) => {
        const primary = await bad(t, answer);
        const secondary = await good(t);
        const gateway = await startPair(t, primary, secondary);
        const client = make(gateway.url);
        atEnd(t, () => client.end());
        const {error} = await timed(client.balance);
        assert.ok(error, 'the application sees the error');
        assert.equal(primary.count(METHOD), 1);
        assert.equal(secondary.count(METHOD), 0);
      });
    }
  });
}

test('the only provider is throttled for two seconds', {timeout: 120_000, ...needsGateway}, async (t) => {
  for (const [library, make] of Object.entries(clients)) {
    await t.test(library, async (t) => {
      let limitedUntil = 0;
      const times = [];
      const provider = await bad(t, () => {
        const now = Date.now();
        limitedUntil ||= now + 2000;
        times.push(now);
        return now < limitedUntil
          ? {http: 429, body: 'slow down', headers: {'retry-after': '2'}}
          : BALANCE;
      });
      const gateway = await startGateway(t, {chainId: CHAIN_ID, upstreams: [provider.url]});
      const client = make(gateway.url);
      atEnd(t, () => client.end());
      const {value, error, elapsed} = await timed(client.balance);
      assert.equal(value, 42n, error);
      assert.ok(elapsed < 10_000, `${elapsed} ms`);
      assert.equal(times.length, 2, 'one refusal, one answer');
      assert.ok(times[1] - times[0] >= 1990, 'nothing during the cool-down');
    });
  }
});

// Slow, and about the libraries alone: what an application pays without a gateway.
test('without weir', {timeout: 300_000, skip: !process.env.WEIR_WRITE_DOCS}, async (t) => {
  const runs = Object.entries(failures).flatMap(([failure, answer]) =>
    Object.entries(clients).map(async ([library, make]) => {
      const primary = await bad(t, answer ?? (() => BALANCE));
      if (!answer) await primary.close();
      const client = make(primary.url);
      atEnd(t, () => client.end());
      const end = new Promise((_, reject) => setTimeout(() => reject(new Error('late')), PATIENCE).unref());
      const {elapsed, error} = await timed(() => Promise.race([client.balance(), end]));
      keep(failure, library, 'alone', {
        requests: primary.count(METHOD),
        elapsed: error?.message === 'late' ? Infinity : elapsed,
      });
    }),
  );
  await Promise.all(runs);
});

const cell = (what) =>
  !what ? '' : `${what.requests}, ${what.elapsed === Infinity ? `over ${PATIENCE / 1000} s` : `${(what.elapsed / 1000).toFixed(2)} s`}`;

after(() => {
  if (!process.env.WEIR_WRITE_DOCS) return;
  const libraries = Object.keys(clients);
  const lines = [
    '# What applications notice of a failing provider',
    '',
    'One balance is read with each client library at its defaults. The first provider fails in the way',
    'that the row names, and does not recover; behind weir there is a second, healthy one. A cell holds',
    'the requests that providers saw for this one read, and the time until the application had a value',
    'or an error.',
    '',
    'Written by `tests/e2e/limits.test.mjs` with `WEIR_WRITE_DOCS=1`; times are of one run.',
    '',
    '## Through weir',
    '',
    'Every read succeeds: one attempt at the first provider (none where it refuses connections), one at',
    'the second.',
    '',
  ];
  const table = (side) => {
    lines.push(`| the provider | ${libraries.join(' | ')} |`, `|---|${'---|'.repeat(libraries.length)}`);
    for (const failure of Object.keys(failures)) {
      lines.push(`| ${failure} | ${libraries.map((l) => cell(seen[failure]?.[l]?.[side])).join(' | ')} |`);
    }
    lines.push('');
  };
  table('through');
  lines.push('## Without weir', '', 'Every read ends in an error, or has not ended.', '');
  table('alone');
  lines.push(
    'A `-32000` "server error" and a revert are answers: through weir the first provider sees one attempt,',
    'nobody a second, and the application the error as it was. When the only provider is throttled for two',
    'seconds, every library gets its value in about two seconds; the provider sees nothing meanwhile.',
    '',
  );
  writeFileSync(new URL('../../docs/clients.md', import.meta.url), lines.join('\n'));
});
