// Nodes that differ: one behind, one of another chain, one without old state.
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import {ACCOUNTS, CHAIN_ID, growAlike, startAnvil} from './lib/anvil.mjs';
import {atEnd} from './lib/cleanup.mjs';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {rpc} from './lib/rpc.mjs';
import {until} from './lib/wait.mjs';

const BLOCKS = 20;
const genesis = () => String(Math.floor(Date.now() / 1000) - 12 * 200);
const hex = (number) => '0x' + number.toString(16);

function get(url) {
  return new Promise((resolve, reject) => {
    http
      .get(url, {agent: false}, (response) => {
        let text = '';
        response.on('data', (part) => (text += part));
        response.on('end', () => resolve(JSON.parse(text)));
      })
      .on('error', reject);
  });
}

async function upstreams(weir) {
  const {chains} = await get(`${weir.admin}/api/status`);
  return Object.fromEntries(chains[0].upstreams.map((each) => [each.name, each]));
}

// A node seen through a counter of what it is asked: {url, counts by method}.
async function counted(t, node) {
  const counts = {};
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      for (const call of [JSON.parse(body)].flat()) {
        counts[call.method] = (counts[call.method] ?? 0) + 1;
      }
      const onward = http.request(
        node.url,
        {method: 'POST', headers: {'content-type': 'application/json'}},
        (reply) => {
          response.writeHead(reply.statusCode, {'content-type': 'application/json'});
          reply.pipe(response);
        },
      );
      onward.on('error', () => response.destroy());
      onward.end(body);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return {url: `http://127.0.0.1:${server.address().port}`, counts};
}

const options = {timeout: 90_000, ...needsGateway};
const chain = {name: 'dev', block_time: '12s', head: {poll_interval: '250ms'}};

test('a node that lags with success gets no head-sensitive call and serves old blocks', options, async (t) => {
  const time = ['--timestamp', genesis()];
  const [behind, ahead] = [await startAnvil(t, time), await startAnvil(t, time)];
  await growAlike([behind, ahead], BLOCKS);
  await rpc(ahead.url, 'anvil_mine', [hex(10)]);
  const lagging = await counted(t, behind);
  const weir = await startGateway(t, {
    chainId: CHAIN_ID,
    chain,
    upstreams: [
      {name: 'behind', url: lagging.url, tier: 0},
      {name: 'ahead', url: ahead.url, tier: 1},
    ],
  });
  await until('the lag is seen', async () => (await upstreams(weir)).behind.state === 'lagging');
  const head = hex(BLOCKS + 10);
  for (let i = 0; i < 20; ++i) {
    assert.equal(await rpc(weir.url, 'eth_blockNumber'), head);
    await rpc(weir.url, 'eth_getBalance', [ACCOUNTS[0].address, 'latest']);
    await rpc(weir.url, 'eth_getLogs', [{fromBlock: '0x1', toBlock: head}]);
  }
  assert.equal(lagging.counts.eth_blockNumber, undefined);
  assert.equal(lagging.counts.eth_getBalance, undefined);
  assert.equal(lagging.counts.eth_getLogs, undefined, 'it lacks the block that the logs go up to');
  await rpc(weir.url, 'eth_getLogs', [{fromBlock: '0x1', toBlock: hex(BLOCKS)}]);
  assert.equal(lagging.counts.eth_getLogs, 1);
  const block = await rpc(weir.url, 'eth_getBlockReceipts', [hex(7)]);
  assert.equal(block.length, 1);
  assert.equal(lagging.counts.eth_getBlockReceipts, 1);
});

test('a node of another chain gets no call, and serves once it is of the right one', options, async (t) => {
  const time = ['--timestamp', genesis()];
  const right = await startAnvil(t, time);
  const node = await startAnvil(t, [...time, '--chain-id', '5']);
  await growAlike([right, node], 3);
  const wrong = await counted(t, node);
  const weir = await startGateway(t, {
    chainId: CHAIN_ID,
    chain: {...chain, head: {...chain.head, chain_check_interval: '500ms'}},
    upstreams: [
      {name: 'wrong', url: wrong.url, tier: 0},
      {name: 'right', url: right.url, tier: 1},
    ],
  });
  await until('it is seen', async () => (await upstreams(weir)).wrong.state === 'wrong_chain');
  for (let i = 0; i < 20; ++i) {
    assert.equal(await rpc(weir.url, 'eth_blockNumber'), hex(3));
    await rpc(weir.url, 'eth_gasPrice');
  }
  assert.deepEqual(Object.keys(wrong.counts), ['eth_chainId']);
  await rpc(node.url, 'anvil_setChainId', [CHAIN_ID]);
  await until('it is back', async () => (await upstreams(weir)).wrong.state === 'fit', {within: 30_000});
  await rpc(weir.url, 'eth_gasPrice');
  assert.ok(wrong.counts.eth_gasPrice >= 1);
  await rpc(node.url, 'anvil_setChainId', [5]);
  await until('it is out', async () => (await upstreams(weir)).wrong.state === 'wrong_chain');
});

for (const history of ['auto', 5]) {
  test(`old state is read from the node that keeps it, with history ${history}`, options, async (t) => {
    const time = ['--timestamp', genesis()];
    const archive = await startAnvil(t, time);
    const pruned = await startAnvil(t, [...time, '--prune-history', '5']);
    await growAlike([archive, pruned], 60);
    const recent = await counted(t, pruned);
    const weir = await startGateway(t, {
      chainId: CHAIN_ID,
      chain,
      upstreams: [
        {name: 'pruned', url: recent.url, tier: 0, history},
        {name: 'archive', url: archive.url, tier: 1},
      ],
    });
    await until('both are fit', async () =>
      Object.values(await upstreams(weir)).every((each) => each.state === 'fit'));
    const receiver = ACCOUNTS[1].address;
    for (const block of [2, 10, 40]) {
      const balance = await rpc(archive.url, 'eth_getBalance', [receiver, hex(block)]);
      assert.equal(await rpc(weir.url, 'eth_getBalance', [receiver, hex(block)]), balance);
    }
    if (history !== 'auto') assert.equal(recent.counts.eth_getBalance, undefined);
    const asked = recent.counts.eth_getBalance ?? 0;
    const now = await rpc(archive.url, 'eth_getBalance', [receiver, 'latest']);
    assert.equal(await rpc(weir.url, 'eth_getBalance', [receiver, 'latest']), now);
    assert.equal(recent.counts.eth_getBalance, asked + 1);
  });
}

test('40 times eth_blockNumber over nodes at 101, 99 and 100 never decreases', options, async (t) => {
  const time = ['--timestamp', genesis()];
  const nodes = [await startAnvil(t, time), await startAnvil(t, time), await startAnvil(t, time)];
  await Promise.all(nodes.map((node, i) => rpc(node.url, 'anvil_mine', [hex([101, 99, 100][i])])));
  const weir = await startGateway(t, {
    chainId: CHAIN_ID,
    chain,
    upstreams: nodes.map((node, i) => ({name: `n${i}`, url: node.url})),
  });
  await until('all are fit', async () =>
    Object.values(await upstreams(weir)).every((each) => each.state === 'fit'));
  let last = 0;
  for (let i = 0; i < 40; ++i) {
    const number =
      i % 2 === 0
        ? Number(await rpc(weir.url, 'eth_blockNumber'))
        : Number((await rpc(weir.url, 'eth_getBlockByNumber', ['latest', false])).number);
    assert.ok(number >= last, `${number} after ${last}`);
    last = number;
  }
  assert.ok(last >= 100);
});

test('what is safe and finalized is shown, of each node and of the chain', options, async (t) => {
  const time = ['--timestamp', genesis()];
  const nodes = [await startAnvil(t, time), await startAnvil(t, time)];
  await growAlike(nodes, 3);
  await Promise.all(nodes.map((node) => rpc(node.url, 'anvil_mine', [hex(90)])));
  const expected = await rpc(nodes[0].url, 'eth_getBlockByNumber', ['finalized', false]);
  const weir = await startGateway(t, {
    chainId: CHAIN_ID,
    chain,
    upstreams: nodes.map((node, i) => ({name: `n${i}`, url: node.url})),
  });
  const seen = await until('it is known', async () => {
    const {chains} = await get(`${weir.admin}/api/status`);
    return chains[0].finalized && chains[0].safe && chains[0].upstreams.every((each) => each.finalized) && chains[0];
  });
  assert.equal(seen.finalized.number, Number(expected.number));
  assert.deepEqual(seen.upstreams[0].unsupported_tags, []);
});
