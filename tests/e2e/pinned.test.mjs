// Related reads of one block, from real nodes: at different heights, with other blocks at the same
// height, dying, and reorganised in the middle of a batch.
import assert from 'node:assert/strict';
import test from 'node:test';
import {FetchRequest, JsonRpcProvider} from 'ethers';
import {createPublicClient, encodeDeployData, encodeFunctionData, http} from 'viem';
import {foundry} from 'viem/chains';
import {ACCOUNTS, CHAIN_ID, growAlike, startAnvil} from './lib/anvil.mjs';
import {atEnd} from './lib/cleanup.mjs';
import {abi, bytecode} from './lib/contract.mjs';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {startRelay} from './lib/relay.mjs';
import {post, rpc} from './lib/rpc.mjs';

const options = {timeout: 90_000, ...needsGateway};
const GENESIS = String(Math.floor(Date.now() / 1000) - 100_000);
const [from, to] = ACCOUNTS.map((account) => account.address);
const counter = '0x5fbdb2315678afecb367f032d93f642f64180aa3'; // the first contract that `from` makes
const callValue = {to: counter, data: encodeFunctionData({abi, functionName: 'value'})};

async function pinned(url, body, block, headers = {}) {
  const reply = await post(url, JSON.stringify(body), {...(block && {'weir-block': block}), ...headers});
  return {status: reply.status, block: reply.headers['weir-block'], body: JSON.parse(reply.text)};
}
const call = (id, method, params) => ({jsonrpc: '2.0', id, method, params});

// A step of the chain: the receiver's balance and the counter go up by the same amount.
async function step(node, amount) {
  await rpc(node.url, 'evm_setAutomine', [false]);
  const head = await rpc(node.url, 'eth_getBlockByNumber', ['latest', false]);
  await rpc(node.url, 'eth_sendTransaction', [{from, to, value: '0x' + amount.toString(16)}]);
  await rpc(node.url, 'eth_sendTransaction', [
    {from, to: counter, gas: '0x30000', data: encodeFunctionData({abi, functionName: 'add', args: [BigInt(amount)]})},
  ]);
  await rpc(node.url, 'evm_mine', [Number(head.timestamp) + 12]);
}

// Nodes with the same chain, a counter in block 1.
async function nodesAlike(t, count, steps) {
  const nodes = [];
  for (let i = 0; i < count; ++i) nodes.push(await startAnvil(t, ['--timestamp', GENESIS]));
  for (const node of nodes) {
    await rpc(node.url, 'evm_setAutomine', [false]);
    await rpc(node.url, 'eth_sendTransaction', [
      {from, gas: '0x200000', data: encodeDeployData({abi, bytecode, args: [0n]})},
    ]);
    await rpc(node.url, 'evm_mine', [Number(GENESIS) + 12]);
    for (let i = 1; i <= steps; ++i) await step(node, i);
  }
  return nodes;
}

const START = 10_000n * 10n ** 18n;
const gained = (balance) => BigInt(balance) - START;

// Balance and counter tell of the same amounts, if they are of one block.
function assertOneMoment(balance, value) {
  assert.equal(gained(balance), BigInt(value), 'balance and counter are of one block');
}

async function assertIsOf(reply, node) {
  const [number, hash] = reply.block.split(';');
  const quantity = '0x' + Number(number).toString(16);
  assert.equal((await rpc(node.url, 'eth_getBlockByNumber', [quantity, false])).hash, hash);
  return quantity;
}

const batch = [
  call(1, 'eth_getBalance', [to, 'latest']),
  call(2, 'eth_call', [callValue, 'latest']),
  call(3, 'eth_blockNumber', []),
  call(4, 'eth_getBlockByNumber', ['latest', false]),
  call(5, 'eth_getLogs', [{address: counter}]),
];

function assertOneBlock(reply) {
  const [balance, value, number, block, logs] = reply.body.map((item) => item.result);
  assert.equal(`${Number(number)};${block.hash}`, reply.block);
  assertOneMoment(balance, value);
  assert.equal(block.number, number);
  for (const log of logs) assert.equal(log.blockHash, block.hash);
  assert.equal(logs.length, 1);
}

test('nodes at different heights: one block, that both have', options, async (t) => {
  const nodes = await nodesAlike(t, 2, 5);
  await step(nodes[1], 6);
  const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: nodes.map((node) => node.url)});
  for (let i = 0; i < 20; ++i) {
    const reply = await pinned(url, batch, 'latest');
    assertOneBlock(reply);
    assert.equal(reply.block.split(';')[0], '6');
    await assertIsOf(reply, nodes[0]);
  }
  const ahead = await pinned(url, batch, '0x7');
  assertOneBlock(ahead);
  assert.equal(ahead.block.split(';')[0], '7');
});

test('other blocks at the same height are mixed without a pin, and never with one', options, async (t) => {
  const nodes = await nodesAlike(t, 3, 4);
  await step(nodes[0], 10);
  await step(nodes[1], 10);
  await step(nodes[2], 500);
  const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: nodes.map((node) => node.url)});
  let mixed = 0;
  for (let i = 0; i < 60; ++i) {
    const balance = await rpc(url, 'eth_getBalance', [to, 'latest']);
    const value = await rpc(url, 'eth_call', [callValue, 'latest']);
    mixed += gained(balance) === BigInt(value) ? 0 : 1;
  }
  assert.ok(mixed > 0, 'the control mixes two blocks');
  for (let i = 0; i < 60; ++i) {
    const first = await pinned(url, call(1, 'eth_getBalance', [to, 'latest']), 'latest');
    const second = await pinned(url, call(2, 'eth_call', [callValue, 'latest']), first.block);
    assert.equal(second.block, first.block);
    assertOneMoment(first.body.result, second.body.result);
    assert.equal(gained(first.body.result), 20n, 'of the block that two of three have');
  }
});

test('a provider dies between two reads: the second is of the same block', options, async (t) => {
  const nodes = await nodesAlike(t, 3, 4);
  await step(nodes[0], 10);
  await step(nodes[1], 10);
  await step(nodes[2], 500);
  const relays = [];
  for (const node of nodes) relays.push(await startRelay(t, node.url));
  const {url} = await startGateway(t, {
    chainId: CHAIN_ID,
    chain: {},
    upstreams: relays.map((relay, i) => ({url: relay.url, tier: [0, 2, 1][i]})),
  });
  const first = await pinned(url, call(1, 'eth_getBalance', [to, 'latest']), 'latest');
  relays[0].close();
  const second = await pinned(url, call(2, 'eth_call', [callValue, 'latest']), first.block);
  assert.equal(second.block, first.block);
  assertOneMoment(first.body.result, second.body.result);
  assert.equal(relays[2].calls('eth_call').length, 0, 'the one with another block serves nothing');
  assert.ok(relays[1].calls('eth_call').length > 0);
});

for (const way of ['anvil_reorg', 'evm_revert']) {
  test(`${way} in the middle of a batch: it begins again on the new block`, options, async (t) => {
    const nodes = await nodesAlike(t, 2, 3);
    const snapshots = await Promise.all(nodes.map((node) => rpc(node.url, 'evm_snapshot')));
    for (const node of nodes) await step(node, 5);

    // The nodes' blocks are replaced as soon as the first balance has been asked.
    let replaced;
    const replace = async () => {
      for (const [i, node] of nodes.entries()) {
        if (way === 'evm_revert') {
          await rpc(node.url, 'evm_revert', [snapshots[i]]);
          await step(node, 77);
          await step(node, 1);
        } else {
          await rpc(node.url, 'anvil_reorg', [2, []]);
        }
      }
    };
    const relays = [];
    for (const node of nodes) {
      relays.push(
        await startRelay(t, node.url, async (body) => {
          const names = [body].flat().map((one) => one.method);
          if (names.includes('eth_call')) await (replaced ??= replace());
        }),
      );
    }
    const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: relays.map((relay) => relay.url)});
    const old = await rpc(nodes[0].url, 'eth_getBlockByNumber', ['latest', false]);
    const reply = await pinned(url, batch.slice(0, 4), 'latest');
    assert.ok(replaced, 'it happened in the middle');
    await replaced;
    assert.notEqual(reply.block.split(';')[1], old.hash);
    assert.equal(reply.block.split(';')[1], reply.body[3].result.hash);
    assertOneMoment(reply.body[0].result, reply.body[1].result);
    await assertIsOf(reply, nodes[0]);

    // Whoever asked for the block that is gone is told so.
    const late = await pinned(url, batch.slice(0, 2), `${Number(old.number)};${old.hash}`);
    for (const item of late.body) {
      assert.equal(item.error.data.type, 'snapshot_unavailable');
      assert.equal(item.error.data.blockHash, old.hash);
      assert.match(item.error.data.reason, /^(reorganised|unknown)$/);
    }
  });
}

test('a node that refuses block hashes is read by number', options, async (t) => {
  const [node] = await nodesAlike(t, 1, 4);
  const error = {code: -32602, message: 'invalid argument 1: json: cannot unmarshal object into Go value of type string'};
  const relay = await startRelay(t, node.url, ({id, params}) =>
    params?.some((param) => param?.blockHash) ? {jsonrpc: '2.0', id, error} : undefined,
  );
  const {url} = await startGateway(t, {
    chainId: CHAIN_ID,
    chain: {},
    upstreams: [{url: relay.url, batch: {max_calls: 1}}],
  });
  for (let i = 0; i < 3; ++i) assertOneBlock(await pinned(url, batch, 'latest'));
  assert.ok(relay.calls('eth_call').some((one) => one.params[1] === '0x5'));
});

test('the recipes: viem and ethers', options, async (t) => {
  const nodes = await nodesAlike(t, 2, 4);
  const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: nodes.map((node) => node.url)});

  const client = createPublicClient({chain: foundry, transport: http(url)});
  const {hash} = await client.getBlock();
  const snapshot = createPublicClient({
    chain: foundry,
    transport: http(url, {fetchOptions: {headers: {'Weir-Block': hash}}}),
  });
  for (const node of nodes) await step(node, 7);
  assertOneMoment(
    await snapshot.getBalance({address: to}),
    await snapshot.readContract({address: counter, abi, functionName: 'value'}),
  );
  assert.equal((await snapshot.getBlock()).hash, hash);
  assert.equal(await snapshot.getBlockNumber(), 5n);

  const request = new FetchRequest(url);
  request.setHeader('Weir-Block', hash);
  const provider = new JsonRpcProvider(request, CHAIN_ID, {staticNetwork: true});
  atEnd(t, () => provider.destroy());
  const [balance, value] = await Promise.all([provider.getBalance(to), provider.call(callValue)]);
  assertOneMoment(balance, value);
  assert.equal(gained(balance), 10n);
  assert.equal(await provider.getBlockNumber(), 5);
});

test('what cannot be read is refused, and each answer names its block', options, async (t) => {
  const nodes = await nodesAlike(t, 1, 2);
  const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: nodes.map((node) => node.url)});
  const one = call(1, 'eth_getBalance', [to, 'latest']);
  for (const [block, query] of [['newest'], ['latest', '?block=0x1'], [undefined, '?block='], ['']]) {
    const reply = await pinned(url + (query ?? ''), one, block ?? undefined, block === '' ? {'weir-block': ''} : {});
    assert.equal(reply.status, 400, `${block} ${query}`);
    assert.equal(reply.body.error.data.type, 'invalid_request');
  }
  for (const query of ['?block=0x2', `?a=b&block=2%3B${(await rpc(nodes[0].url, 'eth_getBlockByNumber', ['0x2', false])).hash}`]) {
    const reply = await pinned(url + query, one);
    assert.equal(reply.block.split(';')[0], '2');
    assert.equal(gained(reply.body.result), 1n);
  }
  for (const block of ['safe', 'finalized', 'latest', '0x1']) {
    const reply = await pinned(url, one, block);
    await assertIsOf(reply, nodes[0]);
  }
  assert.equal((await pinned(url, one)).block, undefined);
});

test('one record for each request, without what was asked', options, async (t) => {
  const nodes = await nodesAlike(t, 2, 2);
  const weir = await startGateway(t, {
    chainId: CHAIN_ID,
    chain: {},
    settings: {log: {correlation_key: 'of-this-test-alone'}},
    upstreams: nodes.map((node, i) => ({url: node.url, name: `node${i}`})),
  });
  const headers = (name) => ({'x-request-id': name});
  const reply = await pinned(weir.url, batch, 'latest', headers('first'));
  await pinned(weir.url, batch[1], reply.block, headers('second'));
  await pinned(weir.url, batch[1], '0xfffff', headers('none'));
  const record = (name) =>
    weir.announced(`its record of ${name}`, (line) => {
      const read = line.startsWith('{') ? JSON.parse(line) : {};
      return read.message === 'snapshot' && read.request_id === name && {...read, line};
    });
  const first = await record('first');
  const second = await record('second');
  assert.equal(first.chain_id, CHAIN_ID);
  assert.equal(`${first.block_number};${first.block_hash}`, reply.block);
  assert.equal(first.began_again, false);
  assert.deepEqual(
    first.reads.map((read) => [read.method, read.by, read.outcome]),
    batch.filter((one) => one.method !== 'eth_blockNumber').map((one) => [one.method, 'hash', 'ok']),
  );
  for (const read of first.reads) {
    assert.match(read.upstream, /^node[01]$/);
    assert.match(read.key, /^[0-9a-f]{16}$/);
    assert.equal(read.attempts, 1);
  }
  const none = await record('none');
  assert.equal(none.block_number, null);
  assert.equal(none.block_hash, null);
  assert.equal(none.reads[0].outcome, 'snapshot_unavailable');
  assert.equal(second.reads[0].key, first.reads[1].key, 'equal reads have equal keys');
  assert.equal(new Set(first.reads.map((read) => read.key)).size, 4);
  for (const {line} of [first, second]) {
    for (const secret of [to, counter, from]) assert.ok(!line.toLowerCase().includes(secret.slice(2).toLowerCase()));
  }
});
