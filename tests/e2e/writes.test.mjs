// A broadcast whose reply is lost after the node said yes: the application gets its hash, and the
// node sees one broadcast.
import assert from 'node:assert/strict';
import test from 'node:test';
import {JsonRpcProvider, Wallet} from 'ethers';
import {createWalletClient, http, parseEther} from 'viem';
import {privateKeyToAccount} from 'viem/accounts';
import {foundry} from 'viem/chains';
import {ACCOUNTS, CHAIN_ID, startAnvil} from './lib/anvil.mjs';
import {atEnd} from './lib/cleanup.mjs';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {firstOf, startLossy} from './lib/lossy.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {rpc} from './lib/rpc.mjs';
import {until} from './lib/wait.mjs';

const SEND = 'eth_sendRawTransaction';
const TO = ACCOUNTS[1].address;

function viemWallet(url, options = {}) {
  return createWalletClient({
    account: privateKeyToAccount(ACCOUNTS[0].key),
    chain: foundry,
    transport: http(url, options),
  });
}

function ethersWallet(t, url, options = {}) {
  const provider = new JsonRpcProvider(url, undefined, options);
  atEnd(t, () => provider.destroy());
  return new Wallet(ACCOUNTS[0].key, provider);
}

const libraries = {
  viem: async (t, url) => viemWallet(url).sendTransaction({to: TO, value: parseEther('1')}),
  ethers: async (t, url) =>
    (await ethersWallet(t, url).sendTransaction({to: TO, value: parseEther('1')})).hash,
};

// One transaction of the sender, and it has this hash.
async function assertMinedOnce(node, hash) {
  // The hash is told as soon as a node has the transaction, which may be before its block is made.
  let receipt = null;
  await until('the receipt', async () => {
    receipt = await rpc(node.url, 'eth_getTransactionReceipt', [hash]);
    return receipt !== null;
  });
  assert.equal(receipt.status, '0x1');
  assert.equal(await rpc(node.url, 'eth_getTransactionCount', [ACCOUNTS[0].address, 'latest']), '0x1');
}

for (const [name, send] of Object.entries(libraries)) {
  test(`${name}: without the gateway a lost reply is a failure`, {timeout: 60_000}, async (t) => {
    const node = await startAnvil(t);
    const lossy = await startLossy(t, node.url, firstOf(SEND, Infinity));
    await assert.rejects(send(t, lossy.url));
  });

  test(`${name}: a lost reply becomes the hash`, {timeout: 60_000, ...needsGateway}, async (t) => {
    const node = await startAnvil(t);
    const lossy = await startLossy(t, node.url, firstOf(SEND));
    const weir = await startGateway(t, {chainId: CHAIN_ID, upstreams: [lossy.url]});
    const hash = await send(t, weir.url);
    assert.equal(lossy.count(SEND), 1);
    await assertMinedOnce(node, hash);
    const record = await (await fetch(`${weir.admin}/api/transactions/${hash}`)).json();
    assert.equal(record.outcome, 'accepted');
    assert.ok(record.events.some((event) => event.event === 'looked_up'));
  });

  test(`${name}: a second upstream never gets the bytes`, {timeout: 60_000, ...needsGateway}, async (t) => {
    const node = await startAnvil(t);
    const first = await startLossy(t, node.url, firstOf(SEND));
    const second = await startLossy(t, node.url, firstOf(SEND));
    const weir = await startGateway(t, {chainId: CHAIN_ID, upstreams: [first.url, second.url]});
    const hash = await send(t, weir.url);
    assert.equal(first.count(SEND) + second.count(SEND), 1);
    await assertMinedOnce(node, hash);
  });
}

const TRANSACTION = {
  to: TO,
  value: 1n,
  nonce: 0,
  gas: 21000n,
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
  chainId: CHAIN_ID,
  type: 'eip1559',
};
const {gas: gasLimit, ...FEES} = TRANSACTION;
const ETHERS_TRANSACTION = {...FEES, gasLimit, type: 2};

// At their defaults, and in arrays: both ethers send those at once, viem where it is told to.
const unknowing = {
  viem: async (t, url) => viemWallet(url).sendTransaction(TRANSACTION),
  'viem, batching': async (t, url) => {
    const wallet = viemWallet(url, {batch: true});
    const [sent, read] = await Promise.allSettled([
      wallet.sendTransaction(TRANSACTION),
      wallet.request({method: 'eth_gasPrice'}),
    ]);
    assert.equal(read.value, '0x1');
    throw sent.reason;
  },
  ethers: async (t, url) => ethersWallet(t, url).sendTransaction(ETHERS_TRANSACTION),
  'ethers, alone': async (t, url) =>
    ethersWallet(t, url, {batchMaxCount: 1}).sendTransaction(ETHERS_TRANSACTION),
  'ethers v5': async (t, url) => {
    const {Wallet: Wallet5, providers} = (await import('ethers-v5')).ethers;
    const wallet = new Wallet5(ACCOUNTS[0].key, new providers.StaticJsonRpcProvider(url, CHAIN_ID));
    const {value, maxFeePerGas, maxPriorityFeePerGas, ...rest} = ETHERS_TRANSACTION;
    await wallet.sendTransaction({
      ...rest,
      value: String(value),
      gasLimit: String(gasLimit),
      maxFeePerGas: String(maxFeePerGas),
      maxPriorityFeePerGas: String(maxPriorityFeePerGas),
    });
  },
};

for (const [name, send] of Object.entries(unknowing)) {
  test(`${name}: an outcome that nobody can tell carries the hash, and no library repeats it`, {
    timeout: 60_000,
    ...needsGateway,
  }, async (t) => {
    const basics = nodeBasics(CHAIN_ID);
    const provider = await startProvider(t, ({method}) => {
      if (method in basics) return basics[method]();
      if (method === SEND) return {http: 502, body: '<html>bad gateway</html>'};
      if (method.startsWith('eth_getTransactionBy')) return {result: null};
      return {result: '0x1'};
    });
    const weir = await startGateway(t, {chainId: CHAIN_ID, upstreams: [provider.url]});
    await assert.rejects(send(t, weir.url), (error) => {
      const seen = JSON.stringify(error, (key, value) =>
        typeof value === 'bigint' ? String(value) : value instanceof Error ? {...value, message: value.message} : value,
      );
      assert.match(seen, /-32050/);
      assert.match(seen, /transactionHash/);
      return true;
    });
    assert.equal(provider.count(SEND), 1);
  });
}

test('identical bytes are one transaction, another with its nonce is an error', {
  timeout: 60_000,
  ...needsGateway,
}, async (t) => {
  const node = await startAnvil(t);
  const lossy = await startLossy(t, node.url, () => false);
  const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: [lossy.url]});
  const wallet = new Wallet(ACCOUNTS[0].key);
  const transaction = {
    to: TO,
    value: 1n,
    nonce: 0,
    gasLimit: 21000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
    chainId: CHAIN_ID,
    type: 2,
  };
  const raw = await wallet.signTransaction(transaction);
  await rpc(node.url, 'evm_setAutomine', [false]);
  const hash = await rpc(url, SEND, [raw]);
  assert.equal(await rpc(url, SEND, [raw]), hash, 'while pending');
  await rpc(node.url, 'evm_mine', []);
  assert.equal(await rpc(url, SEND, [raw]), hash, 'when mined');
  assert.equal(lossy.count(SEND), 1);
  const other = await wallet.signTransaction({...transaction, value: 2n});
  await assert.rejects(rpc(url, SEND, [other]), /nonce too low/);
});

test('ten in a row over two upstreams: no gap, no reuse', {timeout: 60_000, ...needsGateway}, async (t) => {
  for (const [name, send] of Object.entries({
    viem: async (url) => {
      const wallet = viemWallet(url);
      for (let i = 0; i < 10; ++i) await wallet.sendTransaction({to: TO, value: BigInt(i + 1)});
    },
    ethers: async (url) => {
      // By default ethers answers a repeated question for the nonce from its own memory for 250 ms.
      const wallet = ethersWallet(t, url, {cacheTimeout: -1});
      for (let i = 0; i < 10; ++i) await wallet.sendTransaction({to: TO, value: BigInt(i + 1)});
    },
  })) {
    // Two nodes with pools of their own; blocks come only at the end.
    const nodes = [await startAnvil(t, ['--no-mining']), await startAnvil(t, ['--no-mining'])];
    const {url} = await startGateway(t, {
      chainId: CHAIN_ID,
      upstreams: nodes.map((node) => node.url),
    });
    await send(url);
    const counts = await Promise.all(
      nodes.map((node) => rpc(node.url, 'eth_getTransactionCount', [ACCOUNTS[0].address, 'pending'])),
    );
    assert.deepEqual(counts.sort(), ['0x0', '0xa'], name);
  }
});
