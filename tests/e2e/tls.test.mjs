// TLS on the listener: viem over https, what is negotiated, a new certificate while connections stand.
import assert from 'node:assert/strict';
import {execFile, execFileSync} from 'node:child_process';
import {copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import https from 'node:https';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'node:test';
import tls from 'node:tls';
import {promisify} from 'node:util';
import {atEnd} from './lib/cleanup.mjs';
import {needsGateway, startDaemon} from './lib/gateway.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {until} from './lib/wait.mjs';

const LONG = '0x' + 'ab'.repeat(3_000_000);

function makeCertificate(folder, name) {
  execFileSync('openssl', [
    'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
    '-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1',
    '-keyout', path.join(folder, `${name}.key`), '-out', path.join(folder, `${name}.pem`),
  ], {stdio: 'pipe'});
}

async function start(t) {
  const provider = await startProvider(t, (call) =>
    call.method === 'eth_call'
      ? {result: LONG}
      : (nodeBasics(1)[call.method] ?? (() => ({result: '0x1'})))(call),
  );
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-tls-'));
  atEnd(t, () => rmSync(folder, {recursive: true}));
  for (const name of ['first', 'second']) makeCertificate(folder, name);
  const use = (name) => {
    copyFileSync(path.join(folder, `${name}.pem`), path.join(folder, 'served.pem'));
    copyFileSync(path.join(folder, `${name}.key`), path.join(folder, 'served.key'));
  };
  use('first');
  const file = path.join(folder, 'weir.yaml');
  writeFileSync(file, JSON.stringify({
    server: {tls: {certificate: path.join(folder, 'served.pem'), private_key: path.join(folder, 'served.key')}},
    chains: [{chain_id: 1, reply_buffer: '64KiB', upstreams: [{url: provider.url}]}],
  }));
  const weir = await startDaemon(t, path.resolve(process.env.WEIR_BIN), [
    'run', '--config', file, '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0',
  ]);
  const port = Number(new URL(weir.url).port);
  const ca = (name) => readFileSync(path.join(folder, `${name}.pem`));
  return {weir, port, ca, use, folder};
}

function post(options, body) {
  return new Promise((resolve, reject) => {
    const request = https.request({
      host: '127.0.0.1', method: 'POST', path: '/', headers: {'Content-Type': 'application/json'}, ...options,
    }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({status: response.statusCode, text}));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

const call = (method, params = []) => ({jsonrpc: '2.0', id: 7, method, params});

function handshake(port, options) {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({port, host: '127.0.0.1', servername: 'localhost', ...options}, () => {
      const seen = {
        protocol: socket.getProtocol(),
        alpn: socket.alpnProtocol,
        subject: socket.getPeerCertificate().subject.CN,
      };
      socket.destroy();
      resolve(seen);
    });
    socket.on('error', reject);
  });
}

test('viem over https', {...needsGateway, timeout: 60_000}, async (t) => {
  const {port, folder} = await start(t);
  const script = `
    import {createPublicClient, http} from 'viem';
    const client = createPublicClient({transport: http('https://localhost:${port}/', {batch: true})});
    const answers = await Promise.all([client.getChainId(), client.getGasPrice(), client.getBlockNumber()]);
    console.log(answers.map(String).join(' '));`;
  const {stdout} = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL('.', import.meta.url),
    env: {...process.env, NODE_EXTRA_CA_CERTS: path.join(folder, 'first.pem')},
    timeout: 30_000,
  });
  assert.match(stdout, /^1 1 \d+\n$/);
});

test('long answers, many at once, on kept connections', {...needsGateway, timeout: 60_000}, async (t) => {
  const {port, ca} = await start(t);
  const agent = new https.Agent({keepAlive: true, maxSockets: 4});
  atEnd(t, () => agent.destroy());
  const answers = await Promise.all(Array.from({length: 16}, () =>
    post({port, ca: ca('first'), agent}, call('eth_call', [{}, 'latest']))));
  for (const {status, text} of answers) {
    assert.equal(status, 200);
    assert.equal(JSON.parse(text).result, LONG);
  }
  const big = await post({port, ca: ca('first'), agent}, call('eth_gasPrice', ['0x' + '00'.repeat(1_000_000)]));
  assert.equal(big.status, 200);
});

test('TLS 1.2 and later, HTTP/1.1', {...needsGateway, timeout: 60_000}, async (t) => {
  const {port, ca} = await start(t);
  assert.deepEqual(
    await handshake(port, {ca: ca('first'), ALPNProtocols: ['h2', 'http/1.1']}),
    {protocol: 'TLSv1.3', alpn: 'http/1.1', subject: 'first'},
  );
  const old = await handshake(port, {ca: ca('first'), maxVersion: 'TLSv1.2'});
  assert.equal(old.protocol, 'TLSv1.2');
  await assert.rejects(handshake(port, {ca: ca('first'), ALPNProtocols: ['h2']}));
  await assert.rejects(handshake(port, {
    ca: ca('first'), minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0',
  }));
});

test('a new certificate on SIGHUP; connections that stand go on', {...needsGateway, timeout: 60_000}, async (t) => {
  const {weir, port, ca, use} = await start(t);
  const agent = new https.Agent({keepAlive: true, maxSockets: 1});
  atEnd(t, () => agent.destroy());
  assert.equal((await post({port, ca: ca('first'), agent}, call('eth_gasPrice'))).status, 200);
  use('second');
  process.kill(weir.pid, 'SIGHUP');
  await until('the new certificate is shown', async () =>
    (await handshake(port, {rejectUnauthorized: false})).subject === 'second');
  assert.equal((await post({port, ca: ca('first'), agent}, call('eth_gasPrice'))).status, 200);
  assert.equal((await post({port, ca: ca('second'), agent: false}, call('eth_gasPrice'))).status, 200);
});
