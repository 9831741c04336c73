// weir in front of upstreams. Without WEIR_BIN the clients talk to the first upstream directly: a
// control run that shows what the tests themselves are worth.
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {atEnd} from './cleanup.mjs';
import {Service} from './service.mjs';
import {until} from './wait.mjs';

const binary = process.env.WEIR_BIN && path.resolve(process.env.WEIR_BIN);

// For tests that make no sense without the gateway.
export const needsGateway = binary ? {} : {skip: 'needs weir: WEIR_BIN is not set'};

function status(url) {
  return new Promise((resolve, reject) => {
    http
      .get(url, {agent: false, timeout: 5000}, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      })
      .on('error', reject);
  });
}

async function ready(weir) {
  await until('weir is ready', async () => (await status(`${weir.admin}/readyz`)) === 200).catch(
    (error) => {
      throw new Error(`${error.message}; weir said:\n${weir.tail()}`);
    },
  );
}

// Its addresses, from the line of the log that has them, in either format.
function listening(line) {
  if (!line.startsWith('{')) {
    return line.match(/ info +listening rpc=(?<rpc>\S+) admin=(?<admin>\S+)/)?.groups;
  }
  const record = JSON.parse(line);
  return record.message === 'listening' && record;
}

// The arguments of a run with `chain`, further keys of it, and upstreams that are {url, ...keys}.
function configured(t, {chainId, upstreams, chain, settings}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-e2e-'));
  atEnd(t, () => rmSync(folder, {recursive: true}));
  const file = path.join(folder, 'weir.yaml');
  // YAML takes JSON as it is.
  writeFileSync(file, JSON.stringify({...settings, chains: [{chain_id: chainId, ...chain, upstreams}, ...(settings?.chains ?? [])]}));
  return ['--config', file];
}

// `weir run` or `weir demo` as a command line that ends in ports of its own starts it.
export async function startDaemon(t, command, args, options = {}) {
  const weir = new Service(t, 'weir', command, args, options);
  const addresses = await weir.announced('where it listens', listening);
  weir.url = `http://${addresses.rpc}/`;
  weir.admin = `http://${addresses.admin}`;
  await ready(weir);
  return weir;
}

// `upstreams` are URLs, or with `chain` what the configuration file holds of them; `settings` are
// its other sections, and further chains.
export async function startGateway(t, {chainId, upstreams, chain, settings, args = [], env}) {
  if (!binary) return {url: upstreams[0].url ?? upstreams[0]};
  return startDaemon(t, binary, [
    'run',
    ...(chain
      ? configured(t, {chainId, upstreams, chain, settings})
      : ['--chain-id', String(chainId), ...upstreams.flatMap((url) => ['--upstream', url])]),
    '--listen',
    '127.0.0.1:0',
    '--admin',
    '127.0.0.1:0',
    ...args,
  ], env && {env});
}

// `weir demo` on ports of its own.
export function startDemo(t) {
  return startDaemon(t, binary, ['demo', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']);
}
