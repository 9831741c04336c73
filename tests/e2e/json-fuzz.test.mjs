// weir's checking scanner against Node's JSON.parse: mutated texts, with a fixed seed, in a call
// that weir answers by itself. Both must agree on each whether it is JSON.
import assert from 'node:assert/strict';
import {once} from 'node:events';
import net from 'node:net';
import {describe, test} from 'node:test';
import {needsGateway, startGateway} from './lib/gateway.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';

const TEXTS = Number(process.env.WEIR_JSON_FUZZ ?? 30_000);
const SEED = Number(process.env.WEIR_JSON_FUZZ_SEED ?? 20260101);
const PIPELINED = 100;

// mulberry32
function randomFrom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  return {below: (n) => next() % n, of: (list) => list[next() % list.length]};
}

const seeds = [
  '0', '-0', '1.5e+10', '-12.034E-07', '123456789012345678901234567890', '[]', '{}', 'null',
  'true', 'false', '""', '"a"', '"\\u00e9\\n\\\\\\/\\"\\b\\f\\r\\t"', '"\\ud83d\\ude00"', '"é€😀"',
  '[1,2,[3,{"a":[]}]]', '{"a":1,"b":{"c":[true,false,null]},"d":"x"}', ' [ 1 , 2 ] ',
  '{ "k" : "v" , "k" : 2 }', '"' + 'long '.repeat(40) + '"', '[' + '[1],'.repeat(20) + '0]',
  '{"to":"0x' + 'ab'.repeat(20) + '","data":"0x70a08231","value":0}',
].map((text) => Buffer.from(text));

const tokens = [
  '"', '\\', '\\u', '\\ud800', '\\u12', '\\x', '\\"', '\\u0000', '[', ']', '{', '}', ',', ':', ' ', '\t',
  '\n', '\r', '-', '+', '.', '0', '1', '9', 'e', 'E', 'e+', '.0', '-0', '00', 'true', 'tru', 'null',
  'nul', 'NaN', 'Infinity', '/**/', "'", '{"a":1}', '[1]', '"x"', ',,', '"a":', '\u00a0', '\ufeff', '\u2028', 'é',
].map((text) => Buffer.from(text));
const bytes = [
  [0x00], [0x1f], [0x7f], [0x80], [0xbf], [0xc0], [0xc0, 0xaf], [0xc2], [0xc2, 0x80], [0xe0, 0x80, 0x80],
  [0xe0, 0xa0, 0x80], [0xed, 0x9f, 0xbf], [0xed, 0xa0, 0x80], [0xef, 0xbb, 0xbf], [0xf0, 0x8f, 0xbf, 0xbf],
  [0xf0, 0x90, 0x80, 0x80], [0xf4, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf5], [0xff], [0xe2, 0x82],
].map((list) => Buffer.from(list));

function splice(text, at, removed, inserted) {
  return Buffer.concat([text.subarray(0, at), inserted, text.subarray(at + removed)]);
}

function mutate(random, text) {
  const at = random.below(text.length + 1);
  const nothing = Buffer.alloc(0);
  switch (random.below(7)) {
    case 0: return splice(text, at, 1, Buffer.from([random.below(256)]));
    case 1: return splice(text, at, 0, random.of(tokens));
    case 2: return splice(text, at, random.below(3), random.of(tokens));
    case 3: return splice(text, at, 0, random.of(bytes));
    case 4: return splice(text, at, 1 + random.below(4), nothing);
    case 5: return splice(text, at, 0, text.subarray(at, at + 1 + random.below(16)));
    default: return splice(text, at, 0, random.of(seeds));
  }
}

function makeBody(random) {
  let text = random.of(seeds);
  for (let left = random.below(4); left > 0; left--) text = mutate(random, text);
  const call = Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":['),
    text,
    Buffer.from(']}'),
  ]);
  return random.below(20) === 0 ? mutate(random, call) : call;
}

const decoder = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true});

function isJson(body) {
  try {
    JSON.parse(decoder.decode(body));
    return true;
  } catch {
    return false;
  }
}

// Sends bodies pipelined; the answers' texts in their order.
async function exchange(port, bodies) {
  const socket = net.connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error));
  failed.catch(() => {});
  const answers = [];
  let received = '';
  let wake;
  socket.on('close', () => wake?.());
  socket.on('data', (piece) => {
    received += piece.toString('latin1');
    for (;;) {
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) break;
      const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, end));
      const next = end + 4 + Number(length?.[1] ?? 0); // none: 204
      if (received.length < next) break;
      answers.push(received.slice(end + 4, next));
      received = received.slice(next);
    }
    wake?.();
  });
  for (let from = 0; from < bodies.length; from += PIPELINED) {
    const some = bodies.slice(from, from + PIPELINED);
    socket.write(
      Buffer.concat(
        some.flatMap((body) => [
          Buffer.from(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`),
          body,
        ]),
      ),
    );
    while (answers.length < from + some.length) {
      assert.ok(!socket.destroyed, `closed after ${answers.length} answers`);
      await Promise.race([failed, new Promise((resolve) => (wake = resolve))]);
    }
  }
  socket.destroy();
  return answers;
}

describe('JSON against another parser', needsGateway, () => {
  test(`${TEXTS} mutated texts are judged alike`, {timeout: 120_000}, async (t) => {
    const provider = await startProvider(t, (call) =>
      (nodeBasics(1)[call.method] ?? (() => ({error: {code: -32601, message: 'no such method'}})))(),
    );
    const gateway = await startGateway(t, {chainId: 1, upstreams: [provider.url]});
    const random = randomFrom(SEED);
    const bodies = Array.from({length: TEXTS}, () => makeBody(random));
    const answers = await exchange(Number(new URL(gateway.url).port), bodies);
    let good = 0;
    bodies.forEach((body, i) => {
      const expected = isJson(body);
      const accepted = !answers[i].includes('"type":"parse_error"');
      assert.equal(accepted, expected, `${JSON.stringify(body.toString('latin1'))}: ${answers[i]}`);
      if (expected) good++;
    });
    assert.ok(good > TEXTS / 10 && good < TEXTS * 0.9, `${good} of ${TEXTS} were JSON`);
  });
});
