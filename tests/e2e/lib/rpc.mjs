// JSON-RPC over bare HTTP: no retries, and the answer's bytes as they came.
import http from 'node:http';

const agent = new http.Agent({keepAlive: true});

export function post(url, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request(
      url,
      {
        method: 'POST',
        agent,
        timeout: 30_000,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      },
      (response) => {
        const parts = [];
        response.on('data', (part) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode,
            headers: response.headers,
            text: Buffer.concat(parts).toString('utf8'),
          }),
        );
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer within 30 s')));
    request.on('error', reject);
    request.end(body);
  });
}

let id = 0;

// One call; its result, or an exception with the error's code and data.
export async function rpc(url, method, params = []) {
  const reply = await post(url, JSON.stringify({jsonrpc: '2.0', id: ++id, method, params}));
  const {result, error} = JSON.parse(reply.text);
  if (error) {
    throw Object.assign(new Error(`${method}: ${error.message}`), {
      code: error.code,
      data: error.data,
      status: reply.status,
    });
  }
  return result;
}
