// What an application does with viem at its defaults.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  http,
  parseEther,
} from 'viem';
import {privateKeyToAccount} from 'viem/accounts';
import {foundry} from 'viem/chains';
import {ACCOUNTS, CHAIN_ID, startAnvil} from './lib/anvil.mjs';
import {abi, bytecode} from './lib/contract.mjs';
import {startGateway} from './lib/gateway.mjs';
import {rpc} from './lib/rpc.mjs';
import {until} from './lib/wait.mjs';

test('viem through weir to Anvil', {timeout: 120_000}, async (t) => {
  const anvil = await startAnvil(t);
  const {url} = await startGateway(t, {chainId: CHAIN_ID, upstreams: [anvil.url]});
  const account = privateKeyToAccount(ACCOUNTS[0].key);
  const reader = createPublicClient({chain: foundry, transport: http(url)});
  const writer = createWalletClient({account, chain: foundry, transport: http(url)});
  let address;
  let deployed;

  await t.test('reads chain id, block number, balance and nonce', async () => {
    assert.equal(await reader.getChainId(), CHAIN_ID);
    assert.equal(await reader.getBlockNumber({cacheTime: 0}), 0n);
    assert.equal(await reader.getBalance({address: ACCOUNTS[1].address}), parseEther('10000'));
    assert.equal(await reader.getTransactionCount({address: ACCOUNTS[1].address}), 0);
  });

  await t.test('sends a transfer and waits for its receipt', async () => {
    const value = parseEther('1.5');
    const hash = await writer.sendTransaction({to: ACCOUNTS[1].address, value});
    const receipt = await reader.waitForTransactionReceipt({hash});
    assert.equal(receipt.status, 'success');
    assert.equal(receipt.transactionHash, hash);
    assert.equal((await reader.getTransaction({hash})).value, value);
    assert.equal(
      await reader.getBalance({address: ACCOUNTS[1].address}),
      parseEther('10000') + value,
    );
  });

  await t.test('deploys a contract', async () => {
    const hash = await writer.deployContract({abi, bytecode, args: [40n]});
    const receipt = await reader.waitForTransactionReceipt({hash});
    assert.equal(receipt.status, 'success');
    address = receipt.contractAddress;
    deployed = receipt.blockNumber;
    assert.ok((await reader.getCode({address})).length > 100);
    assert.equal(await reader.readContract({address, abi, functionName: 'value'}), 40n);
  });

  await t.test('estimates gas and uses the contract', async () => {
    const call = {address, abi, functionName: 'add', args: [2n]};
    const gas = await reader.estimateContractGas({...call, account});
    assert.ok(gas > 21_000n && gas < 100_000n, `${gas} gas`);
    const {result, request} = await reader.simulateContract({...call, account});
    assert.equal(result, 42n);
    const receipt = await reader.waitForTransactionReceipt({
      hash: await writer.writeContract(request),
    });
    assert.equal(receipt.status, 'success');
    assert.equal(await reader.readContract({address, abi, functionName: 'value'}), 42n);
    const {data} = await reader.call({
      to: address,
      data: encodeFunctionData({abi, functionName: 'value'}),
    });
    assert.equal(BigInt(data), 42n);
  });

  await t.test('finds the logs', async () => {
    const events = await reader.getContractEvents({
      address,
      abi,
      eventName: 'Added',
      fromBlock: deployed,
    });
    assert.equal(events.length, 1);
    assert.deepEqual(events[0].args, {by: ACCOUNTS[0].address, amount: 2n, value: 42n});
    assert.equal((await reader.getLogs({address, fromBlock: deployed})).length, 1);
    assert.equal((await reader.getLogs({address, fromBlock: 0n, toBlock: deployed})).length, 0);
  });

  await t.test('sees a revert with its data', async () => {
    const reason = async (amount) => {
      const error = await reader
        .simulateContract({address, abi, functionName: 'add', args: [amount], account})
        .then(assert.fail, (e) => e);
      assert.ok(error instanceof BaseError, error);
      return error.walk((e) => e instanceof ContractFunctionRevertedError);
    };
    const tooLarge = await reason(5000n);
    assert.equal(tooLarge.data?.errorName, 'TooLarge');
    assert.deepEqual(tooLarge.data.args, [5000n, 1000n]);
    assert.equal((await reason(0n)).reason, 'amount is zero');
  });

  await t.test('a batch of 100 calls in one request', async () => {
    await rpc(url, 'anvil_mine', ['0x64']);
    const sizes = [];
    const batching = createPublicClient({
      chain: foundry,
      transport: http(url, {
        batch: {batchSize: 100},
        onFetchRequest: async (request) => {
          sizes.push((await request.clone().json()).length);
        },
      }),
    });
    const numbers = Array.from({length: 100}, (_, i) => BigInt(i));
    const blocks = await Promise.all(
      numbers.map((blockNumber) => batching.getBlock({blockNumber})),
    );
    assert.deepEqual(
      blocks.map((block) => block.number),
      numbers,
    );
    assert.equal(new Set(blocks.map((block) => block.hash)).size, 100);
    assert.deepEqual(sizes, [100]);
  });

  await t.test('watches events and blocks through filters', async () => {
    const seen = [];
    const blocks = [];
    const failed = [];
    const stops = [
      reader.watchContractEvent({
        address,
        abi,
        eventName: 'Added',
        onLogs: (logs) => seen.push(...logs.map((log) => log.args.amount)),
        onError: (error) => failed.push(error),
      }),
      reader.watchBlockNumber({
        onBlockNumber: (number) => blocks.push(number),
        onError: (error) => failed.push(error),
      }),
    ];
    try {
      // The watcher makes its filter in its own time: it exists once a first event has come through.
      let amount = 1n;
      const add = async () => {
        const hash = await writer.writeContract({
          address,
          abi,
          functionName: 'add',
          args: [amount],
        });
        await reader.waitForTransactionReceipt({hash});
        return amount++;
      };
      await until('the first event is seen', async () => (await add()) && seen.length > 0, {
        within: 30_000,
        every: 1000,
      });
      const last = await add();
      await until('the last event is seen', () => seen.includes(last), {within: 30_000});
      const expected = Array.from({length: seen.length}, (_, i) => last - BigInt(i)).reverse();
      assert.deepEqual(seen, expected, 'each event once and in order');
      await until('a block is seen', () => blocks.length > 0);
      assert.deepEqual(failed, []);
    } finally {
      stops.forEach((stop) => stop());
    }
  });

  await t.test('makes, reads and removes filters', async () => {
    const filter = await reader.createBlockFilter();
    await rpc(url, 'anvil_mine', ['0x3']);
    assert.equal((await reader.getFilterChanges({filter})).length, 3);
    assert.equal((await reader.getFilterChanges({filter})).length, 0);
    assert.equal(await reader.uninstallFilter({filter}), true);
    const events = await reader.createContractEventFilter({
      address,
      abi,
      eventName: 'Added',
      fromBlock: deployed,
    });
    assert.ok((await reader.getFilterLogs({filter: events})).length >= 2);
    assert.equal(await reader.uninstallFilter({filter: events}), true);
  });
});
