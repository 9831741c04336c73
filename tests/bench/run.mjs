// The benchmark: weir beside nginx and haproxy, each with one thread, all of them, their client and
// their upstream pinned to one CPU, in turns. What counts are ratios to nginx; docs/performance.md
// says why. `--help` lists the flags.
import { mkdirSync, mkdtempSync, chmodSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

import { cpuSeconds, firstLine, lastCpu, ownMemory, start, stop } from './lib/process.mjs';
import { ratios, spread, table } from './lib/report.mjs';
import { startTargets, targetNames } from './lib/targets.mjs';

const kHelp = `./dev bench [--quick] [--gate] [--only NAME] [--rounds N] [--json FILE]
  --quick      one short round instead of five
  --gate       end with 1 if weir takes more CPU time per call than nginx at 100 B or 2 KiB, or for a
               call in a large batch more than 0.35 of a call alone
  --only NAME  cpu, latency or memory
  --rounds N   as many rounds
  --json FILE  where the results go (build/bench/results.json)
  --bin FILE   the weir that is measured (build/package/weir)
  --tools DIR  where bench_load and bench_upstream are (build/release/tests)`;

const kYardstick = 'nginx';
const kSizes = [100, 2048, 204800];
const kRate = 10000;
const kIdle = 8000;
const kSlices = 4; // of a round's closed loop

// Closed loops. weir asks for 16 calls of a batch at a time: four batches are what its 64 idle
// connections carry.
const kLoads = [
  { row: '100 B', size: 100, connections: 32, calls: 1, gated: true },
  { row: '2 KiB', size: 2048, connections: 32, calls: 1, gated: true },
  { row: '200 KiB', size: 204800, connections: 32, calls: 1 },
  { row: 'batch of 20', size: 100, connections: 4, calls: 20 },
];

// A large batch through upstreams that take arrays of so many calls, beside the same calls one by
// one: what a call in it may take of one alone.
const kLimited = { size: 101, limits: [100, 10, 3], calls: 1000, most: 0.35 };
const kLimitedRow = 'batch of 1,000 through limits 100, 10, 3';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    gate: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    json: { type: 'string', default: 'build/bench/results.json' },
    bin: { type: 'string', default: 'build/package/weir' },
    tools: { type: 'string', default: 'build/release/tests' },
    help: { type: 'boolean', default: false },
  },
});
if (flags.help) {
  console.log(kHelp);
  process.exit(0);
}
const wanted = (part) => flags.only === undefined || flags.only === part;
const plan = flags.quick
  ? { rounds: 1, seconds: 0.5, openSeconds: 1.5 }
  : { rounds: 5, seconds: 1, openSeconds: 2.5 };
if (flags.rounds) plan.rounds = Number(flags.rounds);

const cpu = lastCpu();
const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
chmodSync(folder, 0o755); // nginx's worker is another user
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const samples = {};
function note(row, target, value) {
  ((samples[row] ??= {})[target] ??= []).push(value);
}

async function load(...args) {
  const child = start(cpu, join(flags.tools, 'bench_load'), args.map(String), { out: 'pipe' });
  const line = await firstLine(child);
  await child.ended;
  return JSON.parse(line);
}

// The targets take turns in short slices, so that what else the machine does hits them alike.
async function measureCpu(targets, { row, size, connections, calls }) {
  const sums = targets.map(() => ({ requests: 0, seconds: 0, spent: 0 }));
  for (let slice = 0; slice < kSlices; ++slice) {
    for (const [place, target] of targets.entries()) {
      const length = plan.seconds / kSlices;
      const before = cpuSeconds(target.child.pid);
      const run = await load('closed', target.port, `/${size}`, connections, length, calls);
      sums[place].spent += cpuSeconds(target.child.pid) - before;
      sums[place].requests += run.requests;
      sums[place].seconds += run.seconds;
    }
  }
  for (const [place, { requests, seconds, spent }] of sums.entries()) {
    note(`CPU time, ${row}`, targets[place].name, spent / requests);
    note(`requests/s, ${row}`, targets[place].name, requests / seconds);
  }
}

// Shares of what the same calls take alone, for weir only: others do not cut batches.
const shares = {};
async function measureBatch(target, { size, calls }) {
  const ways = [
    { connections: 1, calls },
    { connections: 32, calls: 1 },
  ];
  const sums = ways.map(() => ({ calls: 0, seconds: 0, spent: 0 }));
  for (let slice = 0; slice < kSlices; ++slice) {
    for (const [place, way] of ways.entries()) {
      const length = plan.seconds / kSlices;
      const before = cpuSeconds(target.child.pid);
      const run = await load('closed', target.port, `/${size}`, way.connections, length, way.calls);
      sums[place].spent += cpuSeconds(target.child.pid) - before;
      sums[place].calls += run.requests * way.calls;
      sums[place].seconds += run.seconds;
    }
  }
  const [batch, alone] = sums;
  const share = (part) => batch[part] / batch.calls / (alone[part] / alone.calls);
  ((shares[`CPU time a call, ${kLimitedRow}`] ??= {})[target.name] ??= []).push(share('spent'));
  ((shares[`time, ${kLimitedRow}`] ??= {})[target.name] ??= []).push(share('seconds'));
}

async function measureLatency(targets, upstream) {
  const open = (port) => load('open', port, '/100', 256, plan.openSeconds, kRate);
  const direct = await open(upstream);
  for (const target of targets) {
    const run = await open(target.port);
    note('p50 added at 10,000/s', target.name, run.p50_us - direct.p50_us);
  }
}

// Once is enough: what a connection holds does not vary.
async function measureMemory(target) {
  const before = ownMemory(target.child.pid);
  const args = ['idle', target.port, '/100', kIdle].map(String);
  const child = start(cpu, join(flags.tools, 'bench_load'), args, { out: 'pipe', input: 'pipe' });
  await firstLine(child);
  await new Promise((resolve) => setTimeout(resolve, 2500)); // idle is idle after a second
  note('memory per idle connection', target.name, (ownMemory(target.child.pid) - before) / kIdle);
  child.stdin.end();
  await child.ended;
}

async function measure(targets, upstream) {
  for (let round = 0; round < plan.rounds; ++round) {
    for (const one of wanted('cpu') ? kLoads : []) await measureCpu(targets, one);
    for (const target of wanted('cpu') ? targets.filter(({ name }) => name.startsWith('weir')) : []) {
      await measureBatch(target, kLimited);
    }
    if (wanted('latency')) await measureLatency(targets, upstream);
    process.stderr.write(`round ${round + 1} of ${plan.rounds}\n`);
  }
  for (const target of wanted('memory') ? targets : []) await measureMemory(target);
}

const provider = start(cpu, join(flags.tools, 'bench_upstream'), [], { out: 'pipe' });
const upstream = Number(await firstLine(provider));
const binary = flags.bin;
const targets = await startTargets({ cpu, folder, upstream, sizes: kSizes, limited: kLimited, binary });
await measure(targets, upstream);
for (const target of targets) await stop(target.child);
await stop(provider);

const results = ratios(samples, kYardstick);
console.log(`Ratios to ${kYardstick}, median of ${plan.rounds} (lowest-highest):\n`);
console.log(table(results, targetNames));
const inBatch = Object.fromEntries(
  Object.entries(shares).map(([row, of]) => [
    row,
    Object.fromEntries(Object.entries(of).map(([target, values]) => [target, spread(values)])),
  ]),
);
if (wanted('cpu')) {
  console.log(`\nRatios to the same calls one by one:\n`);
  console.log(table(inBatch, targetNames.filter((name) => name.startsWith('weir'))));
}
mkdirSync(dirname(flags.json), { recursive: true });
writeFileSync(flags.json, `${JSON.stringify({ plan, yardstick: kYardstick, results, inBatch, samples, shares }, null, 2)}\n`);

if (flags.gate && wanted('cpu')) {
  for (const { row } of kLoads.filter((each) => each.gated)) {
    const { ratio } = results[`CPU time, ${row}`].weir;
    if (ratio > 1) {
      console.error(`gate: weir takes ${ratio.toFixed(2)} of nginx's CPU time at ${row}`);
      process.exitCode = 1;
    }
  }
  const { ratio } = inBatch[`CPU time a call, ${kLimitedRow}`].weir;
  if (ratio > kLimited.most) {
    console.error(`gate: a call in a ${kLimitedRow} takes ${ratio.toFixed(2)} of one alone`);
    process.exitCode = 1;
  }
}
