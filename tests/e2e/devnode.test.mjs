// Anvil as a development node behind weir: time jumps, the chain goes back, and reads stay right.
import assert from 'node:assert/strict';
import test from 'node:test';
import {createTestClient, http, parseEther, publicActions, walletActions} from 'viem';
import {privateKeyToAccount} from 'viem/accounts';
import {foundry} from 'viem/chains';
import {ACCOUNTS, CHAIN_ID, growAlike, startAnvil} from './lib/anvil.mjs';
import {startGateway} from './lib/gateway.mjs';
import {idle} from './lib/wait.mjs';

const IDLE_SECONDS = Number(process.env.WEIR_E2E_IDLE ?? 10);
const to = ACCOUNTS[1].address;

function testClient(url) {
  return createTestClient({
    account: privateKeyToAccount(ACCOUNTS[0].key),
    mode: 'anvil',
    chain: foundry,
    transport: http(url),
  })
    .extend(publicActions)
    .extend(walletActions);
}

// Number and latest block have to agree, by number and by hash, however they are asked.
async function assertHeadOf(client, number) {
  assert.equal(await client.getBlockNumber({cacheTime: 0}), number);
  const latest = await client.getBlock();
  assert.equal(latest.number, number);
  assert.equal((await client.getBlock({blockNumber: number})).hash, latest.hash);
  assert.equal((await client.getBlock({blockHash: latest.hash})).number, number);
  return latest;
}

async function transferBy(client, ether) {
  const hash = await client.sendTransaction({to, value: parseEther(ether)});
  const receipt = await client.waitForTransactionReceipt({hash});
  assert.equal(receipt.status, 'success');
  return hash;
}

test('Anvil as a development node', {timeout: (IDLE_SECONDS + 90) * 1000}, async (t) => {
  const anvil = await startAnvil(t);
  const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: [anvil.url]});
  const client = testClient(url);
  const assertHead = (number) => assertHeadOf(client, number);
  const transfer = (ether) => transferBy(client, ether);
  const balance = () => client.getBalance({address: to});

  await t.test('mines 1,000 blocks', async () => {
    await assertHead(0n);
    await client.mine({blocks: 1000});
    await assertHead(1000n);
  });

  await t.test(`answers at once after ${IDLE_SECONDS} idle seconds`, async () => {
    await idle(IDLE_SECONDS * 1000);
    await assertHead(1000n);
    await transfer('1');
    await assertHead(1001n);
    assert.equal(await balance(), parseEther('10001'));
  });

  await t.test('moves the clock', async () => {
    const before = await assertHead(1001n);
    await client.increaseTime({seconds: 86_400});
    await client.mine({blocks: 1});
    const after = await assertHead(1002n);
    assert.ok(after.timestamp - before.timestamp >= 86_400n);
  });

  await t.test('goes back to a snapshot', async () => {
    const id = await client.snapshot();
    const before = await assertHead(1002n);
    const hash = await transfer('5');
    await client.mine({blocks: 100});
    await assertHead(1103n);
    assert.equal(await balance(), parseEther('10006'));
    await client.revert({id});
    assert.equal((await assertHead(1002n)).hash, before.hash);
    assert.equal(await balance(), parseEther('10001'));
    await assert.rejects(client.getTransactionReceipt({hash}), {
      name: 'TransactionReceiptNotFoundError',
    });
    assert.equal(await client.getTransactionCount({address: ACCOUNTS[0].address}), 1);
  });

  await t.test('grows anew after the snapshot', async () => {
    await transfer('2');
    await assertHead(1003n);
    assert.equal(await balance(), parseEther('10003'));
  });

  await t.test('starts from nothing after a reset', async () => {
    // The test client's reset() is for forks; see below.
    await client.request({method: 'anvil_reset'});
    await assertHead(0n);
    assert.equal(await balance(), parseEther('10000'));
    assert.equal(await client.getTransactionCount({address: ACCOUNTS[0].address}), 0);
    await transfer('3');
    await assertHead(1n);
    assert.equal(await balance(), parseEther('10003'));
  });

  await t.test('takes the state that the test client sets', async () => {
    await client.setBalance({address: to, value: parseEther('7')});
    assert.equal(await balance(), parseEther('7'));
    await client.setStorageAt({address: to, index: 0, value: '0x' + '2a'.padStart(64, '0')});
    assert.equal(BigInt(await client.getStorageAt({address: to, slot: '0x0'})), 42n);
    await client.impersonateAccount({address: to});
    const hash = await client.sendTransaction({
      account: to,
      to: ACCOUNTS[0].address,
      value: parseEther('1'),
    });
    const receipt = await client.waitForTransactionReceipt({hash});
    assert.equal(receipt.from.toLowerCase(), to.toLowerCase());
    await client.stopImpersonatingAccount({address: to});
  });
});

test('Anvil as a fork of another node', {timeout: 60_000}, async (t) => {
  const origin = await startAnvil(t);
  await growAlike([origin], 12);
  const fork = await startAnvil(t, ['--fork-url', origin.url, '--no-storage-caching']);
  const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: [fork.url]});
  const client = testClient(url);

  const forked = await assertHeadOf(client, 12n);
  const before = await client.getBalance({address: to});
  await transferBy(client, '9');
  await client.mine({blocks: 50});
  await assertHeadOf(client, 63n);

  await client.reset({jsonRpcUrl: origin.url, blockNumber: 12n});
  assert.equal((await assertHeadOf(client, 12n)).hash, forked.hash);
  assert.equal(await client.getBalance({address: to}), before);

  await client.reset({jsonRpcUrl: origin.url, blockNumber: 4n});
  await assertHeadOf(client, 4n);
});
