// Web pages that call weir from a real browser: viem and wagmi at their defaults, from an origin that is allowed
// and from one that is not, and a page whose name turns into weir's own address.
import assert from 'node:assert/strict';
import {once} from 'node:events';
import http from 'node:http';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {buildSync} from 'esbuild';
import {Browser, needsBrowser} from './lib/browser.mjs';
import {atEnd} from './lib/cleanup.mjs';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {until} from './lib/wait.mjs';

const options = {timeout: 120_000, ...needsGateway, ...needsBrowser};
const HEAD = 100n;
const TOKEN = 'token-of-the-web-page';

// What the page brings along, as its author would write it.
const APPLICATION = `
import {createConfig, getBlockNumber, http as wagmiHttp} from '@wagmi/core';
import {createPublicClient, http} from 'viem';
import {mainnet} from 'viem/chains';

const transport = (url, headers) => http(url, {fetchOptions: {headers}});
const outcome = async (action) => {
  const start = performance.now();
  const ended = await action().then(
    (value) => ({value: String(value)}),
    (error) => ({error: error.name, status: error.walk?.((each) => each.status !== undefined)?.status}),
  );
  return {...ended, elapsed: performance.now() - start};
};

export const viem = (url, headers) =>
  outcome(() => createPublicClient({chain: mainnet, transport: transport(url, headers)}).getBlockNumber());
export const viemGasPrice = (url) =>
  outcome(() => createPublicClient({chain: mainnet, transport: http(url)}).getGasPrice());
export const wagmi = (url) =>
  outcome(() => getBlockNumber(createConfig({chains: [mainnet], transports: {[mainnet.id]: wagmiHttp(url)}})));

// One call without a library, and what the page may read of its answer.
export const plain = async (url, method, headers = {}, params = []) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: {'Content-Type': 'application/json', ...headers},
    body: JSON.stringify({jsonrpc: '2.0', id: 1, method, params}),
  }).catch(() => undefined);
  if (!response) return {refused: true};
  return {status: response.status, headers: Object.fromEntries(response.headers), body: await response.json()};
};
// What pages can send anywhere without asking first; they cannot read the answer.
export const blind = async (url, method) => {
  const body = JSON.stringify({jsonrpc: '2.0', id: 1, method, params: []});
  const answer = await fetch(url, {method: 'POST', mode: 'no-cors', body}).catch(() => undefined);
  return answer?.type;
};
`;

function bundle() {
  const {outputFiles} = buildSync({
    stdin: {contents: APPLICATION, resolveDir: fileURLToPath(new URL('.', import.meta.url))},
    bundle: true,
    format: 'iife',
    globalName: 'application',
    write: false,
  });
  return outputFiles[0].text;
}

// A web server that knows one page; the application in it.
async function startPages(t) {
  const script = bundle();
  const server = http.createServer((request, response) => {
    const page = request.url === '/';
    response
      .writeHead(200, {'content-type': page ? 'text/html; charset=utf-8' : 'text/javascript; charset=utf-8'})
      .end(page ? '<!doctype html><title>page</title><script src="/application.js"></script>' : script);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.close();
    server.closeAllConnections?.();
  });
  return server.address().port;
}

async function open(browser, url) {
  const page = await browser.open(url);
  await until(`${url} is there`, () => page.evaluate('typeof application !== "undefined"'));
  const call = (name, ...args) => page.evaluate(`application.${name}(${args.map((arg) => JSON.stringify(arg)).join()})`);
  return {page, call};
}

// weir before a node, pages of three origins, and one browser for all of them.
async function start(t, {answer = {}, chain = {}, settings = {}} = {}) {
  const node = await startProvider(t, (call) => (answer[call.method] ?? nodeBasics(1)[call.method] ?? (() => ({result: '0x1'})))(call));
  const port = await startPages(t);
  const weir = await startGateway(t, {
    chainId: 1,
    chain: {name: 'ethereum', ...chain},
    upstreams: [{name: 'node', url: node.url}],
    settings: {...settings, server: {cors_origins: [`http://app.test:${port}`]}},
  });
  const browser = await Browser.start(t, {hosts: ['app.test', 'other.test', 'rebound.test']});
  const at = (host) => open(browser, `http://${host}:${port}/`);
  return {node, weir, browser, at, port};
}

test('an allowed origin reads what a page may read', options, async (t) => {
  const {weir, at, node} = await start(t);
  for (const host of ['app.test', 'localhost']) {
    const {call} = await at(host);
    assert.equal((await call('viem', weir.url)).value, String(HEAD), host);
    assert.equal((await call('wagmi', weir.url)).value, String(HEAD), host);
    const params = [`0x${'11'.repeat(20)}`, 'latest'];
    const answer = await call('plain', weir.url, 'eth_getBalance', {'Weir-Block': 'latest'}, params);
    assert.equal(answer.body.result, '0x1');
    assert.match(answer.headers['weir-request-id'], /^[0-9a-f]{16}$/);
    assert.match(answer.headers['weir-attempts'], /^[1-9]$/);
    assert.match(answer.headers['weir-block'], /^100;0x(64){32}$/);
  }
  assert.ok(node.count('eth_getBalance') >= 2);
});

test('an allowed origin reads the Retry-After of a 429, and viem waits for it', options, async (t) => {
  let refusals = 1;
  const {weir, at, node} = await start(t, {
    answer: {
      eth_gasPrice: () => (refusals-- > 0 ? {http: 429, headers: {'retry-after': '2'}} : {result: '0x2a'}),
    },
    chain: {rate_limits: {max_wait: '0ms'}},
  });
  const {call} = await at('app.test');
  const refused = await call('plain', weir.url, 'eth_gasPrice');
  assert.equal(refused.status, 429);
  assert.equal(refused.headers['retry-after'], '2');
  assert.equal(refused.body.error.data.type, 'rate_limited');
  assert.equal(node.count('eth_gasPrice'), 1);
  // A page that could not read the header would have spent its retries long before the provider is back.
  const waited = await call('viemGasPrice', weir.url);
  assert.equal(waited.value, '42');
  assert.ok(waited.elapsed > 900, `after ${waited.elapsed} ms`);
  assert.equal(node.count('eth_gasPrice'), 2);
});

test('a token goes from a page as a header, after a preflight without one', options, async (t) => {
  const {weir, at} = await start(t, {settings: {clients: [{name: 'page', token: TOKEN}]}});
  const {call} = await at('app.test');
  assert.equal((await call('viem', weir.url, {Authorization: `Bearer ${TOKEN}`})).value, String(HEAD));
  const refused = await call('plain', weir.url, 'eth_gasPrice');
  assert.equal(refused.status, 401);
  assert.equal(refused.body.error.data.type, 'unauthorized');
});

test('a refused origin reads nothing and moves nothing', options, async (t) => {
  const {weir, at, node} = await start(t);
  const {call} = await at('other.test');
  const viem = await call('viem', weir.url);
  assert.equal(viem.error, 'HttpRequestError');
  assert.equal(viem.status, undefined);
  assert.ok((await call('wagmi', weir.url)).error);
  assert.deepEqual(await call('plain', weir.url, 'eth_gasPrice'), {refused: true});
  // The browser lets it through without asking; weir does not.
  assert.equal(await call('blind', weir.url, 'eth_gasPrice'), 'opaque');
  assert.equal(await call('blind', weir.url, 'eth_sendRawTransaction'), 'opaque');
  // Nor may it do anything at the admin listener.
  assert.deepEqual(await call('plain', `${weir.admin}/api/status`, 'eth_gasPrice'), {refused: true});
  assert.equal(await call('blind', `${weir.admin}/api/reload`, 'eth_gasPrice'), 'opaque');
  assert.equal(node.count('eth_gasPrice') + node.count('eth_blockNumber') + node.count('eth_sendRawTransaction'), 0);
  assert.match(weir.tail(), /forbidden_origin/);
  assert.doesNotMatch(weir.tail(), /configuration/);
});

test('a page whose name has become weir\u2019s address gets nothing', options, async (t) => {
  const {weir, browser, node, at} = await start(t);
  // The browser takes weir for the page's own server, so no rule about origins holds.
  const {port} = new URL(weir.url);
  const page = await browser.open(`http://rebound.test:${port}/`);
  await until('it is there', () => page.evaluate(`location.host === 'rebound.test:${port}'`));
  const answer = await page.evaluate(`fetch('/', {
    method: 'POST', headers: {'Content-Type': 'application/json'},
    body: '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}',
  }).then(async (response) => ({status: response.status, body: await response.json()}))`);
  assert.equal(answer.status, 403);
  assert.equal(answer.body.error.data.type, 'forbidden_host');
  const status = await browser.open(`http://rebound.test:${new URL(weir.admin).port}/api/status`);
  await until('weir has refused', async () => /forbidden_host/.test(await status.text()));
  assert.equal(node.count('eth_gasPrice'), 0);
  const {call} = await at('app.test');  // the name that it has for its own pages
  assert.equal((await call('viem', weir.url)).value, String(HEAD));
});
