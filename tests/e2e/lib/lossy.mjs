// A connection in front of a node that forwards everything, and loses the replies that a test
// names: the request arrives, the node acts, and the socket is closed without an answer.
import http from 'node:http';
import {once} from 'node:events';
import {atEnd} from './cleanup.mjs';

// `loses(body)` says of each request whether its reply is lost. Counts what passed, by method.
export async function startLossy(t, target, loses) {
  const lossy = {bodies: []};
  lossy.count = (method) =>
    lossy.bodies.flatMap((body) => [body].flat()).filter((call) => call.method === method).length;
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString('utf8');
    const body = JSON.parse(text);
    lossy.bodies.push(body);
    const answer = await fetch(target, {
      method: 'POST',
      headers: {'content-type': 'application/json'},
      body: text,
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (loses(body)) {
      request.socket.destroy();
      return;
    }
    response
      .writeHead(answer.status, {
        'content-type': 'application/json',
        'content-length': bytes.length,
      })
      .end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.close();
    server.closeAllConnections?.();
  });
  lossy.url = `http://127.0.0.1:${server.address().port}`;
  return lossy;
}

// Loses the replies to the first `times` requests that hold a call of `method`.
export function firstOf(method, times = 1) {
  let left = times;
  return (body) => [body].flat().some((call) => call.method === method) && left-- > 0;
}
