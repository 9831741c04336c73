// What the status page makes of what weir says, without a browser: words of the headline, of the sentence below it, and
// of what is wrong with an upstream.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import vm from 'node:vm';
import {repository} from './lib/prometheus.mjs';

const page = vm.createContext({});
vm.runInContext(readFileSync(path.join(repository, 'src/server/status_page/judge.js'), 'utf8'), page);
const judge = (chain) => vm.runInContext('(chain) => judge(chain, false)', page)(chain);

const upstream = (more = {}) => ({
  name: 'u0', state: 'fit', reason: '', apart: false, head: {number: 100, hash: '0xa'}, lag_blocks: 0,
  success_rate: 1, throttled_share: 0, allowance: null, cooldown_seconds: 0, ...more,
});

// `now` and `minute`: [calls, failed, limited, gone].
function chain({state = 'ok', upstreams = [upstream()], now = [0, 0, 0], minute = now, late = 0, oldest = late ? 5 : null, owns = []} = {}) {
  return {
    name: 'ethereum', state, head: {number: 100, hash: '0xa'}, upstreams,
    in_flight: {calls: late, late, oldest_seconds: oldest},
    recent: {
      calls: [minute[0]], failed: [minute[1]], limited: [minute[2]], gone: [minute[3] ?? 0],
      latest: {seconds: 10, calls: now[0], failed: now[1], limited: now[2], gone: now[3] ?? 0},
      over_own_rate: owns,
    },
  };
}

test('headline and sentence, case by case', () => {
  const open = upstream({state: 'circuit_open', reason: 'too many failures'});
  const cases = [
    [{}, /^all well$/, /^No call came in the last minute\.$/],
    [{now: [30, 0, 0]}, /^all well$/, /^Users are served: none of 30 calls failed in the last minute\.$/],
    [{now: [30, 30, 0]}, /^down: all calls fail now$/, /^Users feel it now: all 30 calls failed in the last 10 s\./],
    [{now: [0, 0, 0], minute: [169, 0, 0], state: 'down', upstreams: [open]}, /^down: no upstream can serve$/,
      /^No call has failed of it yet: none of 169 calls failed in the last minute\.$/],
    [{now: [5, 0, 0], minute: [169, 20, 0], state: 'down', upstreams: [open]}, /^down: no upstream can serve$/,
      /^Now: none of 5 calls failed in the last 10 s\. In the last minute of 169 calls 20 failed\.$/],
    [{now: [9, 0, 0], state: 'degraded', upstreams: [open]}, /^degraded, but serving$/, /^Users do not feel it: none of 9 calls/],
    [{now: [500, 1, 0], minute: [3000, 1, 0]}, /^all well$/, /^Now: of 500 calls 1 failed in the last 10 s\./],
    [{now: [500, 0, 0], minute: [3000, 0, 0], late: 1}, /^all well$/, /^Now: none of 500 calls failed .*; 1 call waits without/],
    [{now: [0, 0, 0], late: 5}, /^down: no call is answered; 5 calls wait/, /^Users feel it now: no call was answered in the last 10 s;/],
    [{now: [30, 0, 0, 20]}, /^clients give up: 40 % of calls, before their answer$/,
      /^Now: none of 30 calls failed in the last 10 s; 20 calls given up by their clients\./],
    [{now: [100, 0, 100]}, /^users are refused: the providers' limits make all calls wait now$/, /^Users feel it now: /],
  ];
  for (const [given, headline, feel] of cases) {
    const verdict = judge(chain(given));
    assert.match(verdict.headline, headline, JSON.stringify(given));
    assert.match(verdict.feel, feel, JSON.stringify(given));
  }
});

test('headline and sentence never contradict each other', () => {
  const numbers = [0, 1, 2, 5, 100, 1000];
  const states = {
    ok: [[upstream()], [upstream(), upstream({name: 'u1', state: 'lagging', lag_blocks: 9})]],
    degraded: [[upstream({state: 'circuit_open'})], [upstream({state: 'cooling_down'})], [upstream()]],
    down: [[upstream({state: 'circuit_open'})], [upstream({state: 'unknown'}), upstream({state: 'drained'})]],
  };
  let seen = 0;
  for (const [state, lists] of Object.entries(states)) for (const upstreams of lists) {
    for (const calls of numbers) for (const failed of numbers) for (const limited of numbers) for (const late of [0, 1, 5]) {
      if (failed + limited > calls) continue;
      for (const before of [0, 100]) for (const failedBefore of [0, 50]) {
        if (failedBefore > before) continue;
        const {headline, feel, level} = judge(chain({state, upstreams, late,
          now: [calls, failed, limited], minute: [calls + before, failed + failedBefore, limited]}));
        const text = `${headline} / ${feel}`;
        if (/^(down|users)/.test(headline)) assert.doesNotMatch(feel, /do not feel|are served/, text);
        if (/^(all well|serving|degraded)/.test(headline)) assert.doesNotMatch(feel, /feel it now|failed of it yet/, text);
        assert.equal(level === 'good', /^all well/.test(headline), text);
        ++seen;
      }
    }
  }
  assert.ok(seen > 1000);
});

test('what is wrong with an upstream, and what to do about it', () => {
  const trouble = (more) => judge(chain({upstreams: [upstream(more), upstream({name: 'u1'})]})).troubles[0];
  const allowance = {units_per_day: 900, used: 1, renews_in_seconds: 3600};
  const cases = [
    [{state: 'lagging', reason: '9 blocks behind', lag_blocks: 9}, 'lagging', /^9 blocks behind$/, /caught up/],
    [{state: 'lagging', reason: 'its head is implausibly far ahead of the others', lag_blocks: 0}, 'too far ahead',
      /implausibly far ahead/, /^It is not believed, .*others show such blocks too/],
    [{apart: true, reason: 'its blocks differ from the others\''}, 'on a fork', /^its blocks differ from the others'$/, /drain it/],
    [{state: 'quota_spent', reason: 'its plan is spent'}, 'plan spent', /^its plan is spent$/,
      /once you resume it: POST \/api\/upstreams\/ethereum\/u0\/resume\.$/],
    [{state: 'quota_spent', reason: 'its daily allowance is spent', allowance}, 'plan spent', /allowance is spent$/,
      /by itself when its allowance is renewed\..* raise units_per_day and reload\.$/],
  ];
  for (const [given, word, text, advice] of cases) {
    const found = trouble(given);
    assert.equal(found.word, word);
    assert.match(found.text, text);
    assert.match(found.advice, advice);
  }
  assert.equal(judge(chain({upstreams: [upstream({apart: true, reason: 'its blocks differ'}), upstream({name: 'u1'})]})).headline,
    'serving; trouble with u0');
});
