// What an application does with ethers v6 at its defaults.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  Contract,
  ContractFactory,
  JsonRpcProvider,
  NonceManager,
  Wallet,
  parseEther,
} from 'ethers';
import {ACCOUNTS, CHAIN_ID, startAnvil} from './lib/anvil.mjs';
import {atEnd} from './lib/cleanup.mjs';
import {abi, bytecode} from './lib/contract.mjs';
import {startGateway} from './lib/gateway.mjs';
import {rpc} from './lib/rpc.mjs';
import {until} from './lib/wait.mjs';

test('ethers through weir to Anvil', {timeout: 120_000}, async (t) => {
  const anvil = await startAnvil(t);
  const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: [anvil.url]});
  const provider = new JsonRpcProvider(url);
  atEnd(t, () => provider.destroy());
  const wallet = new NonceManager(new Wallet(ACCOUNTS[0].key, provider));
  let contract;
  // ethers answers from its own memory for 250 ms, so a new state shows a moment later.
  const becomes = (what, read, expected) => until(what, async () => (await read()) === expected);

  await t.test('reads network, block number, balance and nonce', async () => {
    assert.equal((await provider.getNetwork()).chainId, BigInt(CHAIN_ID));
    assert.equal(await provider.getBlockNumber(), 0);
    assert.equal(await provider.getBalance(ACCOUNTS[1].address), parseEther('10000'));
    assert.equal(await provider.getTransactionCount(ACCOUNTS[1].address), 0);
  });

  await t.test('sends a transfer and waits for its receipt', async () => {
    const value = parseEther('1.5');
    const sent = await wallet.sendTransaction({to: ACCOUNTS[1].address, value});
    const receipt = await sent.wait();
    assert.equal(receipt.status, 1);
    assert.equal(receipt.hash, sent.hash);
    assert.equal((await provider.getTransaction(sent.hash)).value, value);
    await becomes(
      'the balance is there',
      () => provider.getBalance(ACCOUNTS[1].address),
      parseEther('10001.5'),
    );
  });

  await t.test('sends from an account that the node holds', async () => {
    const signer = await provider.getSigner(ACCOUNTS[1].address);
    const sent = await signer.sendTransaction({to: ACCOUNTS[0].address, value: 1n});
    assert.equal((await sent.wait()).status, 1);
  });

  await t.test('deploys a contract and uses it', async () => {
    contract = await new ContractFactory(abi, bytecode, wallet).deploy(40n);
    await contract.waitForDeployment();
    assert.equal(await contract.value(), 40n);
    const gas = await contract.add.estimateGas(2n);
    assert.ok(gas > 21_000n && gas < 100_000n, `${gas} gas`);
    assert.equal(await contract.add.staticCall(2n), 42n);
    const receipt = await (await contract.add(2n)).wait();
    assert.equal(receipt.status, 1);
    await becomes('the value is there', () => contract.value(), 42n);
  });

  await t.test('finds the logs', async () => {
    const events = await contract.queryFilter('Added', 0);
    assert.equal(events.length, 1);
    assert.deepEqual([...events[0].args], [ACCOUNTS[0].address, 2n, 42n]);
    const address = await contract.getAddress();
    assert.equal((await provider.getLogs({address, fromBlock: 0, toBlock: 'latest'})).length, 1);
  });

  await t.test('sees a revert with its data', async () => {
    await assert.rejects(contract.add.staticCall(5000n), (error) => {
      assert.equal(error.code, 'CALL_EXCEPTION');
      assert.equal(error.data, contract.interface.encodeErrorResult('TooLarge', [5000n, 1000n]));
      assert.equal(error.revert.name, 'TooLarge');
      assert.deepEqual([...error.revert.args], [5000n, 1000n]);
      return true;
    });
    await assert.rejects(contract.add.estimateGas(0n), {
      code: 'CALL_EXCEPTION',
      reason: 'amount is zero',
    });
  });

  await t.test('a batch of 100 calls in one request', async () => {
    await rpc(url, 'anvil_mine', ['0x64']);
    const sizes = [];
    const listener = ({action, payload}) => {
      if (action === 'sendRpcPayload') sizes.push([payload].flat().length);
    };
    provider.on('debug', listener);
    const numbers = Array.from({length: 100}, (_, i) => i);
    const blocks = await Promise.all(numbers.map((number) => provider.getBlock(number)));
    provider.off('debug', listener);
    assert.deepEqual(
      blocks.map((block) => block.number),
      numbers,
    );
    assert.equal(new Set(blocks.map((block) => block.hash)).size, 100);
    assert.ok(sizes.includes(100), `requests of ${sizes} calls`);
  });

  await t.test('watches events and blocks through filters', async () => {
    const seen = [];
    const blocks = [];
    const watched = new Contract(await contract.getAddress(), abi, provider);
    await watched.on('Added', (by, amount) => seen.push(amount));
    await provider.on('block', (number) => blocks.push(number));
    let amount = 1n;
    const add = async () => {
      await (await contract.add(amount)).wait();
      return amount++;
    };
    // The subscriber makes its filter in its own time: it exists once a first event has come through.
    await until('the first event is seen', async () => (await add()) && seen.length > 0, {
      within: 40_000,
      every: 1000,
    });
    const last = await add();
    await until('the last event is seen', () => seen.includes(last), {within: 40_000});
    const expected = Array.from({length: seen.length}, (_, i) => last - BigInt(i)).reverse();
    assert.deepEqual(seen, expected, 'each event once and in order');
    assert.ok(blocks.length > 0);
    await watched.removeAllListeners();
    await provider.removeAllListeners();
    await provider.send('eth_chainId', []);  // behind the removal of the filter, which nobody awaits
  });
});

test('a contract that is not there gives an empty answer', {timeout: 30_000}, async (t) => {
  const anvil = await startAnvil(t);
  const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: [anvil.url]});
  const provider = new JsonRpcProvider(url);
  atEnd(t, () => provider.destroy());
  const contract = new Contract(ACCOUNTS[1].address, abi, provider);
  await assert.rejects(contract.value(), {code: 'BAD_DATA', value: '0x'});
});
