// Anvil, the development node, on a free port of loopback.
import {createRequire} from 'node:module';
import {Service} from './service.mjs';
import {rpc} from './rpc.mjs';

export const CHAIN_ID = 31337;

// Anvil's first two development accounts; their keys are public.
export const ACCOUNTS = [
  {
    address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    key: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  },
  {
    address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    key: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  },
];

function binary() {
  if (process.env.ANVIL_BIN) return process.env.ANVIL_BIN;
  const machine = {x64: 'amd64', arm64: 'arm64'}[process.arch];
  return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-linux-${machine}/bin/anvil`);
}

export async function startAnvil(t, args = []) {
  const node = new Service(t, 'anvil', binary(), ['--host', '127.0.0.1', '--port', '0', ...args]);
  const address = await node.announced('where it listens', (line) =>
    line.match(/^Listening on (127\.0\.0\.1:\d+)/)?.[1],
  );
  node.url = `http://${address}`;
  return node;
}

// Builds the same chain on every node given: the same blocks, hash for hash. Each block is mined by
// command, for automatic mining runs behind the answer to the transaction.
export async function growAlike(nodes, blocks) {
  const genesis = await rpc(nodes[0].url, 'eth_getBlockByNumber', ['0x0', false]);
  for (const node of nodes) {
    await rpc(node.url, 'evm_setAutomine', [false]);
    for (let i = 1; i <= blocks; ++i) {
      await rpc(node.url, 'eth_sendTransaction', [
        {from: ACCOUNTS[0].address, to: ACCOUNTS[1].address, value: '0x' + i.toString(16)},
      ]);
      await rpc(node.url, 'evm_mine', [Number(genesis.timestamp) + 12 * i]);
    }
    await rpc(node.url, 'evm_setAutomine', [true]);
  }
}
