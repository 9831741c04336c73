// A scripted provider: an HTTP server that answers as the test says and counts what it was sent.
import http from 'node:http';
import {once} from 'node:events';
import {atEnd} from './cleanup.mjs';
import {items, members} from './json.mjs';

const HEAD = {
  number: '0x64',
  hash: '0x' + '64'.repeat(32),
  parentHash: '0x' + '63'.repeat(32),
  timestamp: '0x' + Math.floor(Date.now() / 1000).toString(16),
  transactions: [],
};

// What a gateway asks of every node before and while it uses it.
export function nodeBasics(chainId, head = HEAD) {
  return {
    eth_chainId: () => ({result: '0x' + chainId.toString(16)}),
    net_version: () => ({result: String(chainId)}),
    eth_blockNumber: () => ({result: head.number}),
    eth_getBlockByNumber: () => ({result: head}),
  };
}

// `answer(call)` gets {method, params, paramsText} and gives {result}, {error}, {member} (the raw
// text of the answer's member, `"result":...`), {http: status, body, headers}, or {drop: true}: the
// connection closes without an answer. With {delay} the message is answered so many milliseconds later.
// Arrays of more than `maxBatch` calls are refused, if it is given; it may change. `sizes` keeps the calls of each
// message.
export async function startProvider(t, answer, {maxBatch} = {}) {
  const provider = {maxBatch, calls: [], sizes: [], count: (method) => provider.calls.filter((c) => c.method === method).length};
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString('utf8');
    const batch = text.trimStart().startsWith('[');
    const count = batch ? items(text).length : 1;
    provider.sizes.push(count);
    if (provider.maxBatch && count > provider.maxBatch) {
      const error = {code: 31, message: `Batch of more than ${provider.maxBatch} requests are not allowed`};
      response
        .writeHead(500, {'content-type': 'application/json'})
        .end(JSON.stringify({jsonrpc: '2.0', id: null, error}));
      return;
    }
    const answers = (batch ? items(text) : [text]).map((item) => {
      const raw = members(item);
      const call = {
        method: JSON.parse(raw.method),
        paramsText: raw.params,
        params: raw.params && JSON.parse(raw.params),
      };
      provider.calls.push(call);
      return {id: raw.id, ...answer(call)};
    });
    const delay = Math.max(0, ...answers.map((a) => a.delay ?? 0));
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    if (answers.some((a) => a.drop)) {
      request.socket.destroy();
      return;
    }
    const refusal = answers.find((a) => a.http);
    if (refusal) {
      response.writeHead(refusal.http, {'content-type': 'text/plain', ...refusal.headers}).end(refusal.body ?? '');
      return;
    }
    const texts = answers.map(({id, member, result, error}) => {
      const rest =
        member ??
        (error ? `"error":${JSON.stringify(error)}` : `"result":${JSON.stringify(result)}`);
      return `{"jsonrpc":"2.0","id":${id},${rest}}`;
    });
    response
      .writeHead(200, {'content-type': 'application/json'})
      .end(batch ? `[${texts.join(',')}]` : texts[0]);
  });
  // From now on connections are refused.
  provider.close = async () => {
    server.close();
    server.closeAllConnections?.();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.close();
    server.closeAllConnections?.();
  });
  provider.url = `http://127.0.0.1:${server.address().port}`;
  return provider;
}
