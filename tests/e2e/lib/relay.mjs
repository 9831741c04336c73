// A connection in front of a node that forwards everything, after a test has had its say.
import http from 'node:http';
import {once} from 'node:events';
import {atEnd} from './cleanup.mjs';

// `before(body)` is awaited with each request as JSON; what it returns, if anything, is the reply
// in the node's stead. `relay.bodies` keeps what came.
export async function startRelay(t, target, before = () => undefined) {
  const relay = {bodies: [], before};
  relay.calls = (method) =>
    relay.bodies.flatMap((body) => [body].flat()).filter((call) => call.method === method);
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString('utf8');
    const body = JSON.parse(text);
    relay.bodies.push(body);
    const instead = await relay.before(body);
    const bytes = instead
      ? Buffer.from(JSON.stringify(instead))
      : Buffer.from(
          await (
            await fetch(target, {method: 'POST', headers: {'content-type': 'application/json'}, body: text})
          ).arrayBuffer(),
        );
    response
      .writeHead(200, {'content-type': 'application/json', 'content-length': bytes.length})
      .end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  relay.close = () => {
    server.close();
    server.closeAllConnections?.();
  };
  atEnd(t, relay.close);
  relay.url = `http://127.0.0.1:${server.address().port}`;
  return relay;
}
