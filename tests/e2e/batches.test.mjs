// Client libraries that batch, in front of providers that take arrays of different sizes.
// WEIR_WRITE_DOCS=1 writes the table of docs/batches.md.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import test from 'node:test';
import {JsonRpcProvider} from 'ethers';
import {createPublicClient, http} from 'viem';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';

const CHAIN_ID = 1;
const DOCS = new URL('../../docs/batches.md', import.meta.url);
const POOLS = {3: [3], 10: [10], none: [0], '3, 10, none': [3, 10, 0]};
const COUNTS = [20, 500];

const addressOf = (i) => '0x' + (i + 1).toString(16).padStart(40, '0');

const viem = (batch) => (url) => {
  const client = createPublicClient({transport: http(url, {batch})});
  return {balance: (address) => client.getBalance({address}), end() {}};
};
const ethers = (options) => (url) => {
  const provider = new JsonRpcProvider(url, CHAIN_ID, {staticNetwork: true, cacheTimeout: -1, ...options});
  return {balance: (address) => provider.getBalance(address), end: () => provider.destroy()};
};
const clients = {
  'viem, batch: true': viem(true),
  'viem, batchSize 5': viem({batchSize: 5}),
  'viem, batchSize 1000': viem({batchSize: 1000}),
  'ethers, defaults': ethers({}),
  'ethers, batchMaxCount 1': ethers({batchMaxCount: 1}),
  'ethers, batchMaxCount 5': ethers({batchMaxCount: 5}),
  'ethers, batchMaxCount 100': ethers({batchMaxCount: 100}),
};

function startLimited(t, limit) {
  const basics = nodeBasics(CHAIN_ID);
  const answer = ({method, params}) =>
    method === 'eth_getBalance' ? {result: '0x' + BigInt(params[0]).toString(16)} : basics[method]();
  return startProvider(t, answer, {maxBatch: limit});
}

// Messages that held balances: the gateway's own questions go alone and are none.
const messages = (providers) =>
  providers.reduce((sum, {sizes, calls}) => sum + sizes.length - calls.filter((c) => c.method !== 'eth_getBalance').length, 0);

test('balances through arrays', {timeout: 120_000, ...needsGateway}, async (t) => {
  const rows = [];
  for (const [name, make] of Object.entries(clients)) {
    const cells = [];
    for (const limits of Object.values(POOLS)) {
      const counts = [];
      for (const count of COUNTS) {
        const providers = await Promise.all(limits.map((limit) => startLimited(t, limit)));
        const upstreams = providers.map(({url}) => url);
        const weir = await startGateway(t, {chainId: CHAIN_ID, upstreams});
        const client = make(weir.url);
        for (let time = 0; time < 2; ++time) {
          const before = messages(providers);
          const addresses = Array.from({length: count}, (_, i) => addressOf(i));
          const values = await Promise.all(addresses.map((a) => client.balance(a)));
          values.forEach((value, i) => assert.equal(value, BigInt(i + 1)));
          counts.push(messages(providers) - before);
        }
        client.end();
      }
      cells.push(`${counts[0]}, ${counts[1]} · ${counts[2]}, ${counts[3]}`);
    }
    rows.push(`| ${name} | ${cells.join(' | ')} |`);
  }
  if (process.env.WEIR_WRITE_DOCS) {
    const text = readFileSync(DOCS, 'utf8').split('\n## Messages\n')[0];
    const table = [
      '\n## Messages\n',
      'Messages that providers saw for 20 · for 500 concurrent `eth_getBalance`, each asked twice: the first',
      'time, when nothing is known of the providers, and the second. They take arrays of as many calls as the',
      'column says. Written by `tests/e2e/batches.test.mjs` with `WEIR_WRITE_DOCS=1`.\n',
      `| | ${Object.keys(POOLS).join(' | ')} |`,
      `|---|${'---|'.repeat(Object.keys(POOLS).length)}`,
      ...rows,
    ];
    writeFileSync(DOCS, text.trimEnd() + '\n' + table.join('\n') + '\n');
  } else {
    t.diagnostic(rows.join('\n'));
  }
});

test('the batch that ethers sends with a transaction', {timeout: 60_000, ...needsGateway}, async (t) => {
  const raw = '0x02f86f0180';
  const failures = {array: {http: 400, body: 'no arrays'}, reset: {drop: true}, page: {http: 502, body: '<html>bad gateway</html>'}};
  for (const [name, failure] of Object.entries(failures)) {
    const basics = nodeBasics(CHAIN_ID);
    let ready = false;
    const provider = await startProvider(t, ({method}) => {
      if (method === 'eth_sendRawTransaction') return {error: {code: -32000, message: 'insufficient funds'}};
      return ready && method === 'eth_blockNumber' && !provider.failed++ ? failure : basics[method]();
    });
    provider.failed = 0;
    const weir = await startGateway(t, {chainId: CHAIN_ID, upstreams: [provider.url]});
    ready = true;
    const call = (id, method, params = []) => ({jsonrpc: '2.0', id, method, params});
    const response = await fetch(weir.url, {
      method: 'POST',
      headers: {'content-type': 'application/json'},
      body: JSON.stringify([call(1, 'eth_blockNumber'), call(2, 'eth_sendRawTransaction', [raw]), call(3, 'eth_chainId')]),
    });
    const replies = await response.json();
    assert.deepEqual(replies.map(({id}) => id), [1, 2, 3], name);
    assert.equal(replies[0].result, '0x64', name);
    assert.equal(replies[1].error.code, -32000, name);
    assert.equal(replies[2].result, '0x1', name);
    assert.equal(provider.count('eth_sendRawTransaction'), 1, name);
  }
});
