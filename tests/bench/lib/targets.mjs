// The proxies that are measured, each set up to do its best with one thread.
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { freePort, start } from './process.mjs';

const kIdleUpstreams = 64; // connections to the upstream that a proxy keeps

function nginx({ folder, port, upstream }) {
  const file = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
    .join('\n  ');
  writeFileSync(
    file,
    `daemon off;
worker_processes 1;
pid ${join(folder, 'nginx.pid')};
error_log stderr crit;
events { worker_connections 10000; }
http {
  access_log off;
  keepalive_requests 1000000000;
  ${temporary}
  upstream provider {
    server 127.0.0.1:${upstream};
    keepalive ${kIdleUpstreams};
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffer_size 16k;
      proxy_buffers 16 16k;
      proxy_busy_buffers_size 32k;
      proxy_max_temp_file_size 0;
    }
  }
}
`,
  );
  return ['nginx', ['-e', 'stderr', '-c', file]];
}

function haproxy({ folder, port, upstream }) {
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 9000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend clients
  bind 127.0.0.1:${port} backlog 4096
  default_backend provider
backend provider
  server provider 127.0.0.1:${upstream} pool-max-conn ${kIdleUpstreams}
`,
  );
  return ['haproxy', ['-db', '-f', file]];
}

function weir(level) {
  return async ({ folder, port, upstream, sizes, limited, binary }) => {
    const file = join(folder, 'weir.yaml');
    const chains = sizes.map(
      (size) => `  - name: replies-of-${size}
    chain_id: ${size}
    upstreams:
      - url: http://127.0.0.1:${upstream}/${size}
`,
    );
    const pool = limited.limits.map(
      (limit) => `      - name: takes-${limit}
        url: http://127.0.0.1:${upstream}/${limited.size}
        batch: {max_calls: ${limit}}
`,
    );
    chains.push(`  - name: limited
    chain_id: ${limited.size}
    upstreams:
${pool.join('')}`);
    writeFileSync(
      file,
      `server:
  listen: 127.0.0.1:${port}
  threads: 1
  drain_delay: 0s
admin:
  listen: 127.0.0.1:${await freePort()}
log:
  level: ${level}
chains:
${chains.join('')}`,
    );
    return [binary, ['run', '--config', file]];
  };
}

const kTargets = {
  weir: weir('warn'),
  'weir, info log': weir('info'),
  nginx,
  haproxy,
};

export const targetNames = Object.keys(kTargets);

/**
 * Starts all targets; each answers POST /SIZE for every one of `sizes`, and for `limited.size`, once
 * this returns. There, weir has one upstream for each of `limited.limits`, the calls in one array.
 */
export async function startTargets({ cpu, folder, upstream, sizes, limited, binary }) {
  const targets = [];
  for (const name of targetNames) {
    const own = join(folder, name.replaceAll(/\W+/g, '-'));
    mkdirSync(own, { recursive: true, mode: 0o755 });
    const port = await freePort();
    const [command, args] = await kTargets[name]({
      folder: own,
      port,
      upstream,
      sizes,
      limited,
      binary,
    });
    const child = start(cpu, command, args, { out: openSync('/dev/null', 'w') });
    targets.push({ name, port, child });
  }
  for (const target of targets) {
    for (const size of [...sizes, limited.size]) await untilFit(target, size);
  }
  return targets;
}

async function untilFit({ name, port, child }, size) {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}';
  const headers = { 'content-type': 'application/json' };
  const deadline = Date.now() + 15000;
  for (;;) {
    try {
      const url = `http://127.0.0.1:${port}/${size}`;
      const response = await fetch(url, { method: 'POST', headers, body });
      const text = await response.text();
      if (response.ok && text.includes('"result"')) return;
    } catch {
      // Not listening yet.
    }
    if (Date.now() > deadline) throw new Error(`${name} does not answer /${size}: ${child.complaints}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
