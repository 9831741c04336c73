// Every recorded exchange of the execution-apis corpus through weir: the reply is equal as JSON, its
// result or error equal in bytes, and the upstream was sent the very bytes of the params.
import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {readExchanges} from './lib/corpus.mjs';
import {startGateway} from './lib/gateway.mjs';
import {items, members} from './lib/json.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {post} from './lib/rpc.mjs';

const BATCH = 20;
const ANSWERED_HERE = new Set(['eth_chainId', 'net_version', 'net_listening']);
const SENT_ONCE = new Set(['eth_sendRawTransaction', 'testing_buildBlockV1']);

const folder = process.env.WEIR_CORPORA && path.join(process.env.WEIR_CORPORA, 'execution-apis/tests');
const skip = !folder
  ? 'WEIR_CORPORA is not set: no execution-apis corpus to replay'
  : !existsSync(folder) && `there is no ${folder}`;

const keyOf = ({method, paramsText}) => `${method} ${paramsText ?? ''}`;

// The raw text of the member that carries the answer, `"result":...` or `"error":...`.
function answerOf(replyText) {
  const {result, error} = members(replyText);
  return error === undefined ? `"result":${result}` : `"error":${error}`;
}

// A node that knows the corpus's answers by heart, and its head block.
async function startRecordedNode(t, exchanges) {
  const answers = new Map();
  for (const exchange of exchanges) {
    const known = answers.get(keyOf(exchange));
    const member = answerOf(exchange.reply);
    assert.ok(known === undefined || known === member, `${exchange.name}: two answers to one call`);
    answers.set(keyOf(exchange), member);
  }
  const find = (method, paramsText) => JSON.parse(`{${answers.get(keyOf({method, paramsText}))}}`);
  const head = find('eth_getBlockByNumber', '["latest",true]').result;
  const basics = nodeBasics(Number(find('eth_chainId').result), head);
  return startProvider(t, (call) => {
    const member = answers.get(keyOf(call));
    if (member) return {member};
    if (call.method in basics) return basics[call.method]();
    return {error: {code: -32999, message: `not in the corpus: ${keyOf(call).slice(0, 200)}`}};
  });
}

function assertSame(exchange, replyText) {
  assert.deepEqual(JSON.parse(replyText), JSON.parse(exchange.reply), exchange.name);
  assert.equal(answerOf(replyText), answerOf(exchange.reply), exchange.name);
}

// Every call that is not answered by the gateway itself has reached the node; writes no more than
// once for each time that they were asked.
function assertAsked(exchanges, provider) {
  const count = (calls) => {
    const counts = new Map();
    for (const call of calls) counts.set(keyOf(call), (counts.get(keyOf(call)) ?? 0) + 1);
    return counts;
  };
  const asked = count(provider.calls);
  for (const [key, times] of count(exchanges)) {
    const method = key.split(' ')[0];
    if (ANSWERED_HERE.has(method)) continue;
    assert.ok(asked.get(key) >= 1, `the node was not asked ${key.slice(0, 200)}`);
    if (SENT_ONCE.has(method)) assert.equal(asked.get(key), times, key.slice(0, 200));
  }
}

async function start(t) {
  const exchanges = readExchanges(folder);
  assert.ok(exchanges.length > 200, `${exchanges.length} exchanges in ${folder}`);
  const provider = await startRecordedNode(t, exchanges);
  const chainId = JSON.parse(exchanges.find((e) => e.method === 'eth_chainId').reply).result;
  const {url} = await startGateway(t, {chainId: BigInt(chainId), upstreams: [provider.url]});
  return {exchanges, provider, url};
}

test('the execution-apis corpus, call by call', {timeout: 120_000, skip}, async (t) => {
  const {exchanges, provider, url} = await start(t);
  for (const exchange of exchanges) {
    const reply = await post(url, exchange.request);
    assert.equal(reply.status, 200, `${exchange.name}: ${reply.text.slice(0, 500)}`);
    assertSame(exchange, reply.text);
  }
  assertAsked(exchanges, provider);
  t.diagnostic(`${exchanges.length} exchanges`);
});

test(`the execution-apis corpus, in batches of ${BATCH}`, {timeout: 120_000, skip}, async (t) => {
  const {exchanges, provider, url} = await start(t);
  for (let at = 0; at < exchanges.length; at += BATCH) {
    const part = exchanges.slice(at, at + BATCH);
    // Nearly all recorded ids are 1: places, not ids, tell the answers apart for the client.
    const reply = await post(url, `[${part.map((exchange) => exchange.request).join(',')}]`);
    assert.equal(reply.status, 200, reply.text.slice(0, 500));
    JSON.parse(reply.text);
    const replies = items(reply.text);
    assert.equal(replies.length, part.length);
    part.forEach((exchange, i) => assertSame(exchange, replies[i]));
  }
  assertAsked(exchanges, provider);
});
