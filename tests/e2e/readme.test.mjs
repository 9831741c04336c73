// The README's first lines do what it says, against `weir demo` on ports of its own.
import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {promisify} from 'node:util';
import {needsGateway, startDemo} from './lib/gateway.mjs';
import {commands, readPage} from './lib/pages.mjs';
import {until} from './lib/wait.mjs';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

// The lines of the blocks that are marked ```sh demo.
function demoLines() {
  const {blocks} = readPage(readme);
  return blocks.filter((one) => one.words.includes('demo')).flatMap((one) => commands(one.text));
}

test('the lines of the README for the demo', {...needsGateway, timeout: 60_000}, async (t) => {
  const lines = demoLines();
  assert.equal(lines.length, 3, 'a call, the status, many calls at once');
  const weir = await startDemo(t);
  const run = async (line) => {
    assert.match(line, /^curl /);
    const here = line
      .replaceAll('http://127.0.0.1:8545', weir.url.slice(0, -1))
      .replaceAll('http://127.0.0.1:9545', weir.admin);
    assert.notEqual(here, line);
    const shell = ['-e', '-o', 'pipefail', '-c', here];
    return (await promisify(execFile)('bash', shell, {timeout: 20_000})).stdout;
  };

  await t.test('a call', async () => {
    const [head, body] = (await run(lines[0])).split('\r\n\r\n');
    assert.match(head, /^HTTP\/1.1 200 OK\r\n/);
    assert.match(head, /^Weir-Request-Id: \S+\r?$/m);
    assert.match(head, /^Weir-Attempts: [1-4]\r?$/m);
    assert.match(JSON.parse(body).result, /^0x[0-9a-f]+$/);
  });

  await t.test('the status', async () => {
    const {chains} = JSON.parse(await run(lines[1]));
    assert.equal(chains.length, 1);
    assert.equal(chains[0].name, 'ethereum');
    assert.ok(chains[0].head.number > 0);
    const states = Object.fromEntries(chains[0].upstreams.map((one) => [one.name, one.state]));
    assert.deepEqual(Object.keys(states), ['throttler', 'laggard', 'stranger']);
    assert.equal(states.stranger, 'wrong_chain');
  });

  await t.test('more calls at once than the providers take', async () => {
    await until('some are answered and some are told to wait', async () => {
      const counts = {};
      for (const row of (await run(lines[2])).trim().split('\n')) {
        const [count, status] = row.trim().split(/\s+/);
        counts[status] = Number(count);
      }
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      assert.equal(total, 200);
      return counts[200] > 0 && counts[429] > 0;
    });
  });
});
