// Two nodes with the same chain; one dies in the middle of a steady stream of reads.
import assert from 'node:assert/strict';
import test from 'node:test';
import {JsonRpcProvider} from 'ethers';
import {createPublicClient, http} from 'viem';
import {foundry} from 'viem/chains';
import {ACCOUNTS, CHAIN_ID, growAlike, startAnvil} from './lib/anvil.mjs';
import {atEnd} from './lib/cleanup.mjs';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {rpc} from './lib/rpc.mjs';
import {until} from './lib/wait.mjs';

const BLOCKS = 20;
const READERS = 6;
const READS_BEFORE = 300;
const READS_AFTER = 600;

for (const victim of [0, 1]) {
  test(`no read fails when node ${victim + 1} of 2 is killed`, {timeout: 90_000, ...needsGateway}, async (t) => {
    const genesisTime = String(Math.floor(Date.now() / 1000) - 12 * BLOCKS);
    const nodes = [
      await startAnvil(t, ['--timestamp', genesisTime]),
      await startAnvil(t, ['--timestamp', genesisTime]),
    ];
    await growAlike(nodes, BLOCKS);
    const heads = await Promise.all(
      nodes.map((node) => rpc(node.url, 'eth_getBlockByNumber', ['latest', false])),
    );
    assert.equal(heads[0].hash, heads[1].hash, 'both nodes have the same chain');

    const {url} = await startGateway(t, {
      chainId: CHAIN_ID,
      upstreams: nodes.map((node) => node.url),
    });
    const viem = createPublicClient({chain: foundry, transport: http(url, {retryCount: 0})});
    const ethers = new JsonRpcProvider(url);
    atEnd(t, () => ethers.destroy());

    // Every reader goes through the same questions; the answers are known beforehand.
    const address = ACCOUNTS[1].address;
    const balance = await rpc(nodes[0].url, 'eth_getBalance', [address, 'latest']);
    const questions = [
      async () => assert.equal(await rpc(url, 'eth_blockNumber'), heads[0].number),
      async () => assert.equal(await rpc(url, 'eth_getBalance', [address, 'latest']), balance),
      async () => assert.equal((await viem.getBlock()).hash, heads[0].hash),
      async () => assert.equal(await viem.getBalance({address}), BigInt(balance)),
      async () => assert.equal((await ethers.getBlock(7)).number, 7),
      async () => assert.equal(await ethers.getTransactionCount(address), 0),
    ];
    const failures = [];
    let reads = 0;
    let running = true;
    const readers = Array.from({length: READERS}, async (_, start) => {
      for (let i = start; running; ++i) {
        await questions[i % questions.length]().catch((error) => failures.push(error));
        ++reads;
      }
    });
    try {
      await until('reads flow', () => reads >= READS_BEFORE, {within: 30_000});
      await nodes[victim].kill();
      const killedAt = reads;
      await until('reads flow on', () => reads >= killedAt + READS_AFTER, {within: 40_000});
    } finally {
      running = false;
      await Promise.all(readers);
    }
    assert.deepEqual(failures, [], `${failures.length} of ${reads} reads failed`);
  });
}
