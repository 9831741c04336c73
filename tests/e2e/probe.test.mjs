// `weir probe` and `weir check --live` on a real node, and on a server whose certificate nobody trusts.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import https from 'node:https';
import {once} from 'node:events';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {CHAIN_ID, startAnvil} from './lib/anvil.mjs';
import {atEnd} from './lib/cleanup.mjs';
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
