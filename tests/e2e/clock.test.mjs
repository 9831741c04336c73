// The machine's wall clock jumps (set by hand, NTP after a suspended night): weir waits by its monotonic clock.
import assert from 'node:assert/strict';
import {existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {atEnd} from './lib/cleanup.mjs';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {until} from './lib/wait.mjs';

// Shows the program another wall clock, and leaves the monotonic one.
const FAKETIME = readdirSync('/usr/lib', {withFileTypes: true})
  .filter((entry) => entry.isDirectory())
  .map(({name}) => `/usr/lib/${name}/faketime/libfaketimeMT.so.1`)
  .find(existsSync);
const sanitized = /asan|tsan/.test(process.env.WEIR_BIN ?? '');  // a sanitizer wants to be loaded first
const skip = FAKETIME ? sanitized && 'not under a sanitizer' : 'needs faketime';
const options = {timeout: 60_000, ...(skip ? {skip} : needsGateway)};

const METHOD = 'eth_getBalance';
const HOUR = 3_600_000;  // ms
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const WAIT = 3;  // seconds

async function ask(url) {
  const response = await fetch(url, {
    method: 'POST', headers: {'content-type': 'application/json'},
    body: JSON.stringify({jsonrpc: '2.0', id: 1, method: METHOD, params: ['0x' + '11'.repeat(20), 'latest']}),
  });
  return {status: response.status, retryAfter: Number(response.headers.get('retry-after')), body: await response.json()};
}

// weir whose wall clock `jump` sets off, before providers that say "slow down" as `headers` has it while told to.
async function start(t, headers) {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-clock-'));
  atEnd(t, () => rmSync(folder, {recursive: true}));
  const file = path.join(folder, 'offset');
  const jump = (offset) => writeFileSync(file, offset);
  jump('+0');
  const state = {limited: false};
  const provider = await startProvider(t, ({method}) => {
    if (method !== METHOD) return nodeBasics(1)[method]();
    return state.limited ? {http: 429, body: 'slow down', headers: headers()} : {result: '0x2a'};
  });
  const env = {...process.env, LD_PRELOAD: FAKETIME, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1'};
  const weir = await startGateway(t, {
    chainId: 1, chain: {rate_limits: {max_wait: '0s'}}, upstreams: [{url: provider.url}], env,
  });
  return {weir, provider, jump, state};
}

for (const offset of ['+1d', '-1d', '+20y', '-20y']) {
  test(`a cool-down lasts as long as before when the clock jumps by ${offset}`, options, async (t) => {
    const {weir, provider, jump, state} = await start(t, () => ({'retry-after': String(WAIT)}));
    assert.equal((await ask(weir.url)).status, 200);
    state.limited = true;
    const began = performance.now();
    const first = await ask(weir.url);
    assert.deepEqual([first.status, first.retryAfter], [429, WAIT]);
    state.limited = false;
    jump(offset);
    const asked = provider.count(METHOD);
    await until('the cool-down is over', async () => {
      const {status, retryAfter} = await ask(weir.url);
      if (status === 200) return true;
      assert.ok(status === 429 && retryAfter >= 1 && retryAfter <= WAIT, `${status}, Retry-After ${retryAfter}`);
      assert.equal(provider.count(METHOD), asked, 'nothing during the cool-down');
      return false;
    });
    const took = (performance.now() - began) / 1000;
    await until('the log has the other time', () => Math.abs(Date.parse(weir.tail().match(TIME).at(-1)) - Date.now()) > 12 * HOUR);
    assert.ok(took >= WAIT - 0.05 && took < WAIT + 3, `${took} s`);
    assert.equal((await fetch(`${weir.admin}/readyz`)).status, 200);
  });
}

test('a date of Retry-After is held against the Date beside it, whatever the clock says', options, async (t) => {
  const at = (seconds) => new Date(Date.now() + 1000 * seconds).toUTCString();
  const {weir, jump, state} = await start(t, () => ({date: at(0), 'retry-after': at(WAIT)}));
  jump('+1d');
  assert.equal((await ask(weir.url)).status, 200);
  state.limited = true;
  const {status, retryAfter} = await ask(weir.url);
  assert.equal(status, 429);
  assert.ok(retryAfter >= WAIT - 1 && retryAfter <= WAIT, `Retry-After ${retryAfter}`);
});
