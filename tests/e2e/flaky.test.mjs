// The only provider answers 503 three times: the application notices nothing.
import assert from 'node:assert/strict';
import test from 'node:test';
import {JsonRpcProvider} from 'ethers';
import {createPublicClient, http} from 'viem';
import {mainnet} from 'viem/chains';
import {atEnd} from './lib/cleanup.mjs';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {rpc} from './lib/rpc.mjs';

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

// A provider of mainnet that refuses the first `failures` questions for a balance.
async function startFlaky(t, failures) {
  const basics = nodeBasics(1);
  let left = failures;
  return startProvider(t, ({method}) => {
    if (method in basics) return basics[method]();
    if (method === 'eth_getBalance' && left-- > 0) return {http: 503, body: 'try again later'};
    return {result: '0x2a'};
  });
}

test('three 503 from the only provider', {timeout: 60_000, ...needsGateway}, async (t) => {
  await t.test('ethers reads', async (t) => {
    const provider = await startFlaky(t, 3);
    const {url} = await startGateway(t, {chainId: 1, upstreams: [provider.url]});
    const ethers = new JsonRpcProvider(url);
    atEnd(t, () => ethers.destroy());
    assert.equal(await ethers.getBalance(ADDRESS), 42n);
    assert.equal(provider.count('eth_getBalance'), 4);
  });

  await t.test('viem reads, without retries of its own', async (t) => {
    const provider = await startFlaky(t, 3);
    const {url} = await startGateway(t, {chainId: 1, upstreams: [provider.url]});
    const viem = createPublicClient({chain: mainnet, transport: http(url, {retryCount: 0})});
    assert.equal(await viem.getBalance({address: ADDRESS}), 42n);
    assert.equal(provider.count('eth_getBalance'), 4);
  });

  await t.test('a provider that never recovers is asked max_attempts times, no more', async (t) => {
    const provider = await startFlaky(t, Infinity);
    const {url} = await startGateway(t, {chainId: 1, upstreams: [provider.url]});
    await assert.rejects(rpc(url, 'eth_getBalance', [ADDRESS, 'latest']), (error) => {
      assert.equal(error.status, 502);
      assert.equal(error.code, -32603);
      assert.equal(error.data.type, 'bad_upstream_reply');
      return true;
    });
    assert.equal(provider.count('eth_getBalance'), 4);
  });

  await t.test('a write goes out once, whatever comes back', async (t) => {
    const basics = nodeBasics(1);
    const provider = await startProvider(t, ({method}) =>
      method in basics ? basics[method]() : {http: 503, body: 'try again later'},
    );
    const {url} = await startGateway(t, {chainId: 1, upstreams: [provider.url]});
    await assert.rejects(rpc(url, 'eth_sendTransaction', [{from: ADDRESS, to: ADDRESS}]));
    assert.equal(provider.count('eth_sendTransaction'), 1);
  });
});
