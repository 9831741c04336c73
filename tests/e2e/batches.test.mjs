// Client libraries that batch, in front of providers that take arrays of different sizes.
// WEIR_WRITE_DOCS=1 writes the table of docs/batches.md.
import assert from 'node:assert/strict';
import {once} from 'node:events';
import {readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import test from 'node:test';
import {FetchRequest, JsonRpcProvider, Wallet} from 'ethers';
import {createPublicClient, http} from 'viem';
import {ACCOUNTS, CHAIN_ID as ANVIL_CHAIN_ID, startAnvil} from './lib/anvil.mjs';
import {atEnd} from './lib/cleanup.mjs';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {rpc} from './lib/rpc.mjs';
import {until} from './lib/wait.mjs';

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

// The arrays that a node gets fail in some way, and so does every message whose calls `spoils` picks.
async function startSpoiled(t, target, spoil, spoils) {
  const seen = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString('utf8');
    const body = JSON.parse(text);
    seen.push(body);
    const spoiled = Array.isArray(body) || spoils(body);
    // A transaction arrives whatever becomes of the reply.
    const holdsWrite = [body].flat().some(({method}) => method === SEND);
    if (spoiled && !holdsWrite) return spoil(request, response);
    const answer = await fetch(target, {method: 'POST', headers: {'content-type': 'application/json'}, body: text});
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (spoiled) return spoil(request, response);
    response.writeHead(200, {'content-type': 'application/json'}).end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    messages: (method) => seen.filter((body) => [body].flat().some((call) => call.method === method)),
  };
}

const SEND = 'eth_sendRawTransaction';
const page = (status, text) => (request, response) => response.writeHead(status, {'content-type': 'text/html'}).end(text);
const failures = {
  'refuses arrays': page(400, 'no arrays here'),
  resets: (request) => request.socket.resetAndDestroy(),
  'answers with a page': page(502, '<html>bad gateway</html>'),
  'answers 200 with a page': page(200, '<html>welcome</html>'),
};

for (const [name, spoil] of Object.entries(failures)) {
  test(`the batch that ethers sends with a transaction: an upstream ${name}`, {timeout: 60_000, ...needsGateway}, async (t) => {
    const node = await startAnvil(t);
    // What the gateway asks before it serves goes through; then a first read and every transaction's
    // reply are spoiled as arrays are.
    let reads = 0;
    let ready = false;
    const spoils = ({method}) => ready && (method === SEND || (method === 'eth_blockNumber' && reads++ === 0));
    const upstream = await startSpoiled(t, node.url, spoil, spoils);
    const weir = await startGateway(t, {chainId: ANVIL_CHAIN_ID, upstreams: [upstream.url]});
    ready = true;
    const sent = [];
    const request = new FetchRequest(weir.url);
    request.preflightFunc = async (out) => (sent.push(JSON.parse(Buffer.from(out.body).toString())), out);
    const provider = new JsonRpcProvider(request, undefined, {cacheTimeout: -1});
    atEnd(t, () => provider.destroy());
    const wallet = new Wallet(ACCOUNTS[0].key, provider);
    const response = await wallet.sendTransaction({to: ACCOUNTS[1].address, value: 1n});

    const batch = sent.find((body) => Array.isArray(body) && body.some(({method}) => method === SEND));
    assert.ok(batch?.some(({method}) => method === 'eth_blockNumber'), 'ethers sends it with others');
    assert.equal(upstream.messages(SEND).length, 1);
    assert.ok(!Array.isArray(upstream.messages(SEND)[0]), 'it goes alone');
    let receipt = null;
    await until('the receipt', async () => {
      receipt = await rpc(node.url, 'eth_getTransactionReceipt', [response.hash]);
      return receipt !== null;
    });
    assert.equal(receipt.status, '0x1');
    assert.equal(await rpc(node.url, 'eth_getTransactionCount', [ACCOUNTS[0].address, 'latest']), '0x1');
    assert.ok((await provider.getBlockNumber()) >= 1);
    const record = await (await fetch(`${weir.admin}/api/transactions/${response.hash}`)).json();
    assert.equal(record.outcome, 'accepted');
  });
}

const post = async (url, calls) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify(calls),
  });
  return {status: response.status, headers: response.headers, replies: await response.json()};
};
const call = (id, method, params = []) => ({jsonrpc: '2.0', id, method, params});
const balanceOf = (id) => call(id, 'eth_getBalance', [addressOf(id), 'latest']);

test('a batch whose calls are limited: 429 with the array, or 200 with some of them', {timeout: 60_000, ...needsGateway}, async (t) => {
  const basics = nodeBasics(CHAIN_ID);
  let limited = () => false;
  const provider = await startProvider(t, ({method, params}) => {
    if (method in basics) return basics[method]();
    return limited(params[0])
      ? {error: {code: -32005, message: 'project ID request rate exceeded', data: {rate: {backoff_seconds: 9}}}}
      : {result: params[0]};
  });
  const start = () =>
    startGateway(t, {
      chainId: CHAIN_ID,
      upstreams: [{name: 'a', url: provider.url}],
      chain: {name: 'main', rate_limits: {max_wait: '0ms'}},
    });

  await t.test('some of them', async () => {
    const weir = await start();
    limited = (address) => address === addressOf(2);
    const {status, headers, replies} = await post(weir.url, [balanceOf(1), balanceOf(2), call(3, 'eth_chainId'), balanceOf(4)]);
    assert.equal(status, 200);
    assert.equal(headers.get('retry-after'), null);
    assert.deepEqual(replies.map(({id}) => id), [1, 2, 3, 4]);
    assert.equal(replies[0].result, addressOf(1));
    assert.equal(replies[1].error.code, -32005);
    assert.equal(replies[1].error.data.type, 'rate_limited');
    assert.equal(replies[2].result, '0x1');
    assert.equal(replies[3].result, addressOf(4));
  });

  await t.test('all that needed an upstream', async () => {
    const weir = await start();
    limited = () => true;
    const {status, headers, replies} = await post(weir.url, [call(1, 'eth_chainId'), balanceOf(2), balanceOf(3)]);
    assert.equal(status, 429);
    assert.match(headers.get('retry-after'), /^[1-9]$/);
    assert.equal(headers.get('content-type'), 'application/json');
    assert.deepEqual(replies.map(({id}) => id), [1, 2, 3]);
    assert.equal(replies[0].result, '0x1');
    assert.deepEqual(replies.slice(1).map(({error}) => [error.code, error.data.type, error.data.status]), [
      [-32005, 'rate_limited', 429],
      [-32005, 'rate_limited', 429],
    ]);
  });
});

test('a limit that falls while the gateway runs is seen in the status', {timeout: 60_000, ...needsGateway}, async (t) => {
  const provider = await startLimited(t, 100);
  const weir = await startGateway(t, {chainId: CHAIN_ID, upstreams: [provider.url]});
  const calls = Array.from({length: 100}, (_, i) => balanceOf(i + 1));
  const ask = async () => {
    const before = messages([provider]);
    const {replies} = await post(weir.url, calls);
    replies.forEach(({id, result}) => assert.equal(BigInt(result), BigInt(addressOf(id))));
    assert.equal(replies.length, 100);
    return messages([provider]) - before;
  };
  const upstream = async () => (await (await fetch(`${weir.admin}/api/status`)).json()).chains[0].upstreams[0];
  assert.equal(await ask(), 1);
  assert.equal((await upstream()).batch_limit, null);
  provider.maxBatch = 10;
  assert.equal(await ask(), 11);
  assert.equal(await ask(), 10);
  const {batch_limit, state, success_rate, cooldown_seconds} = await upstream();
  assert.deepEqual({batch_limit, state, success_rate, cooldown_seconds}, {batch_limit: 10, state: 'fit', success_rate: 1, cooldown_seconds: 0});
});

test('a late array: its answers count, and others are asked as well', {timeout: 60_000, ...needsGateway}, async (t) => {
  const basics = nodeBasics(CHAIN_ID);
  const start = (delayOf) =>
    startProvider(t, ({method, params}) => (method in basics ? basics[method]() : {result: params[0], delay: delayOf(params[0])}));
  const gateway = (providers) =>
    startGateway(t, {
      chainId: CHAIN_ID,
      upstreams: providers.map(({url}, i) => ({name: 'abc'[i], url, tier: i})),
      chain: {name: 'main', timeouts: {attempt: '200ms', request: '3s'}},
    });
  const calls = Array.from({length: 10}, (_, i) => balanceOf(i + 1));
  const ask = async (weir) => {
    const begin = Date.now();
    const {status, headers, replies} = await post(weir.url, calls);
    assert.equal(status, 200);
    assert.deepEqual(replies.map(({id}) => id), calls.map(({id}) => id));
    return {replies, attempts: Number(headers.get('weir-attempts')), took: Date.now() - begin};
  };
  const right = ({id, result}) => assert.equal(result, addressOf(id));

  await t.test('the only upstream, slow', async (t) => {
    const slow = await start(() => 1000);
    const {replies, attempts} = await ask(await gateway([slow]));
    replies.forEach(right);
    assert.equal(attempts, 1);
    assert.equal(messages([slow]), 1);
  });

  await t.test('the first of two, slow', async (t) => {
    const [slow, quick] = [await start(() => 2500), await start(() => 0)];
    const {replies, took} = await ask(await gateway([slow, quick]));
    replies.forEach(right);
    assert.ok(took < 1500, `${took} ms`);
    assert.equal(messages([slow]), 1);
  });

  await t.test('one call is slow everywhere', async (t) => {
    const stuck = await start((address) => (address === addressOf(4) ? 5000 : 0));
    const {replies, took} = await ask(await gateway([stuck]));
    replies.filter(({id}) => id !== 4).forEach(right);
    assert.equal(replies[3].error.data.type, 'deadline');
    assert.ok(took < 4000, `${took} ms`);
  });
});
