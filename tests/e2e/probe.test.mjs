// `weir probe` and `weir check --live` on a real node, and on a server whose certificate nobody trusts.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import {once} from 'node:events';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {CHAIN_ID, startAnvil} from './lib/anvil.mjs';
import {atEnd} from './lib/cleanup.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {needsGateway} from './lib/gateway.mjs';
import {rpc} from './lib/rpc.mjs';

async function weir(...args) {
  const child = spawn(path.resolve(process.env.WEIR_BIN), args, {stdio: ['ignore', 'pipe', 'pipe']});
  let out = '';
  let err = '';
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (err += data));
  const [code] = await once(child, 'close');
  return {code, out, err};
}

function folder(t) {
  const name = mkdtempSync(path.join(tmpdir(), 'weir-probe-'));
  atEnd(t, () => rmSync(name, {recursive: true}));
  return name;
}

test('probe reports what Anvil is', {timeout: 60_000, ...needsGateway}, async (t) => {
  const node = await startAnvil(t);
  await rpc(node.url, 'anvil_mine', ['0x32']);
  const version = await rpc(node.url, 'web3_clientVersion');
  const {code, out, err} = await weir('probe', '--json', node.url);
  assert.equal(code, 0, err);
  assert.match(err, /at most 40 requests/);
  const [found] = JSON.parse(out).endpoints;
  assert.equal(found.chain_id, CHAIN_ID);
  assert.equal(found.head.number, 50);
  assert.equal(found.client_version, version);
  assert.deepEqual(found.batch, {taken: 100, refused: null, exact: false, rate_limited: false});
  assert.equal(found.history.complete, true);
  assert.equal(found.eip1898, 'yes');
  assert.equal(found.methods.eth_getLogs, 'yes');
  assert.equal(found.methods.eth_getProof, 'yes');
  assert.equal(found.methods.eth_feeHistory, 'yes');
  assert.equal(found.rate_limited, 0);
  assert.ok(found.requests <= 40);

  const table = await weir('probe', node.url);
  assert.match(table.out, /chain id +31337\n/);
  assert.match(table.out, /- chain_id: 31337\n {4}upstreams:\n/);

  // The entry that it prints is a configuration that holds.
  const file = path.join(folder(t), 'weir.yaml');
  writeFileSync(file, `chains:\n${table.out.slice(table.out.indexOf('  - chain_id'))}`);
  const check = await weir('check', '--live', '--config', file);
  assert.equal(check.code, 0, check.err);
  assert.match(check.out, /: head 50, \d+ s old; answered in \d+ ms/);
});

test('a certificate that nobody trusts is a problem of the URL', {timeout: 60_000, ...needsGateway}, async (t) => {
  const place = folder(t);
  const [key, certificate] = [path.join(place, 'key.pem'), path.join(place, 'cert.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate,
    '-days', '1', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'], {stdio: 'ignore'});
  const server = https.createServer({key: readFileSync(key), cert: readFileSync(certificate)}, (request, response) =>
    response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => server.close());
  const url = `https://127.0.0.1:${server.address().port}`;
  const file = path.join(place, 'weir.yaml');
  writeFileSync(file, JSON.stringify({chains: [{chain_id: 1, upstreams: [{url}]}]}));
  const check = await weir('check', '--live', '--config', file);
  assert.equal(check.code, 2);
  assert.match(check.err, /^chains\[0\]\.upstreams\[0\]\.url: does not answer eth_chainId \(connect_failed\): .*certificate/m);
  const probe = await weir('probe', url);
  assert.equal(probe.code, 1);
  assert.match(probe.out, /problem +connect_failed: .*certificate/);
});

// A server that says the same to whoever comes.
async function startTalker(t, host, status, body, headers = {}) {
  const server = http.createServer((request, response) => response.writeHead(status, headers).end(body));
  server.listen(0, host);
  await once(server, 'listening');
  atEnd(t, () => server.close());
  return server.address().port;
}

test('what came in place of an answer is named', {timeout: 60_000, ...needsGateway}, async (t) => {
  const page = '<!doctype html><title>hi</title>';
  const json = {'content-type': 'application/json'};
  const error = `{"jsonrpc":"2.0","id":1,"error":{"code":-39999,"message":"in\u202evoice\u200b \u00e4"}}`;
  const cases = [
    [200, page, {}, 'bad_reply: a page of HTML or XML, no JSON; HTTP status 200'],
    [200, '', json, 'bad_reply: an empty body; HTTP status 200'],
    [200, '{"jsonrpc":"2.0","id":99,"result":"0x1"}', json, 'bad_reply: an answer to another call; HTTP status 200'],
    [302, '', {location: 'http://127.0.0.1:1/'}, 'bad_reply: a redirect, which is not followed; HTTP status 302'],
    [200, '"0x1"', json, 'bad_reply: no JSON-RPC; HTTP status 200'],
    [200, error, json, 'in voice  \u00e4'],
  ];
  for (const [status, body, headers, words] of cases) {
    const url = `http://127.0.0.1:${await startTalker(t, '127.0.0.1', status, body, headers)}`;
    const {code, out} = await weir('probe', url);
    assert.equal(code, 1);
    assert.ok(out.split('\n').some((line) => line.startsWith('  problem') && line.endsWith(words)), out);
  }
  const port = await startTalker(t, '::1', 200, page);
  const {out} = await weir('probe', '--json', `http://[::1]:${port}`);
  const [found] = JSON.parse(out).endpoints;
  assert.equal(found.endpoint, `[::1]:${port}`);
  assert.equal(found.cause, 'bad_reply');
});

test('check --live ends with its verdict', {timeout: 60_000, ...needsGateway}, async (t) => {
  const old = {...nodeBasics(1).eth_getBlockByNumber().result, timestamp: '0x' + (Math.floor(Date.now() / 1000) - 90_000).toString(16)};
  const node = await startProvider(t, ({method}) => (nodeBasics(1, method === 'eth_getBlockByNumber' ? old : undefined)[method] ?? (() => ({result: '0x1'})))());
  const good = await startProvider(t, ({method}) => (nodeBasics(1)[method] ?? (() => ({result: '0x1'})))());
  const file = path.join(folder(t), 'weir.yaml');
  writeFileSync(file, JSON.stringify({chains: [{chain_id: 1, upstreams: [{url: node.url}]}]}));
  const bad = await weir('check', '--live', '--config', file);
  assert.equal(bad.code, 2);
  assert.doesNotMatch(bad.out, /no problems/);
  assert.ok(bad.err.endsWith(`chains[0].upstreams[0].url: its head, block 100, is 25 hours old\n${file}: 1 problem\n`), bad.err);
  writeFileSync(file, JSON.stringify({chains: [{chain_id: 1, upstreams: [{url: good.url}]}]}));
  const well = await weir('check', '--live', '--config', file);
  assert.equal(well.code, 0, well.err);
  assert.ok(well.out.endsWith(`answered in ${/in (\d+) ms\n/.exec(well.out)[1]} ms\n${file}: no problems\n`), well.out);
});
