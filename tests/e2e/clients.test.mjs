// Smoke tests with clients beside the two main ones: ethers v5, an older viem, web3.js and cast.
import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {createRequire} from 'node:module';
import test from 'node:test';
import {promisify} from 'node:util';
import {ACCOUNTS, CHAIN_ID, startAnvil} from './lib/anvil.mjs';
import {abi, bytecode} from './lib/contract.mjs';
import {startGateway} from './lib/gateway.mjs';

const ETHER = 10n ** 18n;
const {address: from, key} = ACCOUNTS[0];
const {address: to} = ACCOUNTS[1];

async function start(t) {
  const anvil = await startAnvil(t);
  return (await startGateway(t, {chainId: CHAIN_ID, upstreams: [anvil.url]})).url;
}

test('ethers v5', {timeout: 60_000}, async (t) => {
  const {ContractFactory, Wallet, providers} = (await import('ethers-v5')).ethers;
  const provider = new providers.JsonRpcProvider(await start(t));
  provider.pollingInterval = 100;
  const wallet = new Wallet(key, provider);
  assert.equal((await provider.getNetwork()).chainId, CHAIN_ID);
  assert.equal(await provider.getBlockNumber(), 0);
  assert.equal((await provider.getBalance(from)).toBigInt(), 10_000n * ETHER);
  const sent = await wallet.sendTransaction({to, value: ETHER.toString()});
  assert.equal((await sent.wait()).status, 1);
  assert.equal((await provider.getBalance(to)).toBigInt(), 10_001n * ETHER);
  const contract = await new ContractFactory(abi, bytecode, wallet).deploy(40);
  await contract.deployed();
  await (await contract.add(2)).wait();
  assert.equal((await contract.value()).toNumber(), 42);
  const logs = await provider.getLogs({address: contract.address, fromBlock: 0});
  assert.equal(logs.length, 1);
  assert.equal((await provider.getTransactionReceipt(sent.hash)).blockNumber, 1);
  await assert.rejects(contract.callStatic.add(0), {code: 'CALL_EXCEPTION'});
});

test('viem 2.56.8', {timeout: 60_000}, async (t) => {
  const {createPublicClient, createWalletClient, http} = await import('viem-2.56.8');
  const {privateKeyToAccount} = await import('viem-2.56.8/accounts');
  const {foundry: chain} = await import('viem-2.56.8/chains');
  const url = await start(t);
  const client = createPublicClient({chain, transport: http(url), pollingInterval: 100});
  const wallet = createWalletClient({chain, transport: http(url), account: privateKeyToAccount(key)});
  assert.equal(await client.getChainId(), CHAIN_ID);
  assert.equal(await client.getBlockNumber(), 0n);
  assert.equal(await client.getBalance({address: from}), 10_000n * ETHER);
  const hash = await wallet.sendTransaction({to, value: ETHER});
  assert.equal((await client.waitForTransactionReceipt({hash})).status, 'success');
  const deployed = await wallet.deployContract({abi, bytecode, args: [40n]});
  const {contractAddress} = await client.waitForTransactionReceipt({hash: deployed});
  const contract = {address: contractAddress, abi};
  const added = await wallet.writeContract({...contract, functionName: 'add', args: [2n]});
  await client.waitForTransactionReceipt({hash: added});
  assert.equal(await client.readContract({...contract, functionName: 'value'}), 42n);
  assert.equal((await client.getLogs({address: contractAddress, fromBlock: 0n})).length, 1);
});

test('web3.js', {timeout: 60_000}, async (t) => {
  const {Web3} = await import('web3');
  const web3 = new Web3(await start(t));
  web3.eth.accounts.wallet.add(key);
  assert.equal(await web3.eth.getChainId(), BigInt(CHAIN_ID));
  assert.equal(await web3.eth.getBlockNumber(), 0n);
  assert.equal(await web3.eth.getBalance(from), 10_000n * ETHER);
  const receipt = await web3.eth.sendTransaction({from, to, value: ETHER.toString()});
  assert.equal(receipt.status, 1n);
  assert.equal(await web3.eth.getBalance(to), 10_001n * ETHER);
  const contract = await new web3.eth.Contract(abi).deploy({data: bytecode, arguments: [40]}).send({from});
  await contract.methods.add(2).send({from});
  assert.equal(await contract.methods.value().call(), 42n);
  assert.equal((await contract.getPastEvents('allEvents', {fromBlock: 0})).length, 1);
  assert.equal((await web3.eth.getTransactionReceipt(receipt.transactionHash)).blockNumber, 1n);
});

function castBinary() {
  if (process.env.CAST_BIN) return process.env.CAST_BIN;
  const machine = {x64: 'amd64', arm64: 'arm64'}[process.arch];
  return createRequire(import.meta.url).resolve(`@foundry-rs/cast-linux-${machine}/bin/cast`);
}

test('cast', {timeout: 60_000}, async (t) => {
  const url = await start(t);
  const run = promisify(execFile);
  const cast = async (command, ...args) =>
    (await run(castBinary(), [command, '--rpc-url', url, ...args], {timeout: 30_000})).stdout.trim();
  assert.equal(await cast('chain-id'), String(CHAIN_ID));
  assert.equal(await cast('block-number'), '0');
  assert.equal(await cast('balance', from), String(10_000n * ETHER));
  const send = async (...args) =>
    JSON.parse(await cast('send', '--json', '--private-key', key, ...args));
  const sent = await send(to, '--value', '1ether');
  assert.equal(sent.status, '0x1');
  const code = bytecode + (40).toString(16).padStart(64, '0');
  const {contractAddress} = await send('--create', code);
  await send(contractAddress, 'add(uint256)', '2');
  assert.equal(await cast('call', contractAddress, 'value()(uint256)'), '42');
  const logs = JSON.parse(await cast('logs', '--json', '--from-block', '0', '--address', contractAddress));
  assert.equal(logs.length, 1);
  const receipt = JSON.parse(await cast('receipt', '--json', sent.transactionHash));
  assert.equal(receipt.blockNumber, '0x1');
});
