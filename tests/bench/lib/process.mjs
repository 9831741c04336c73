// Starting what is measured, and reading from /proc what it costs.
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';

const running = new Set();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

/** The last CPU that this process may use: the first ones serve interrupts more often. */
export function lastCpu() {
  const list = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  return Number(/(\d+)$/.exec(list)[1]);
}

/** Starts `command` on one CPU. Its standard output is `out`: a pipe, or an open file's number. */
export function start(cpu, command, args, { out = 'ignore', input = 'ignore' } = {}) {
  const child = spawn('taskset', ['-c', String(cpu), command, ...args], { stdio: [input, out, 'pipe'] });
  child.complaints = '';
  child.stderr.on('data', (text) => (child.complaints = (child.complaints + text).slice(-2000)));
  child.ended = new Promise((resolve) => child.once('close', (code) => resolve(code)));
  child.ended.then(() => running.delete(child));
  running.add(child);
  return child;
}

export async function stop(child) {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 5000);
  await child.ended;
  clearTimeout(late);
}

/** The first line that a child prints. */
export function firstLine(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (more) => {
      text += more;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.ended.then((code) => reject(new Error(`ended with ${code}: ${child.complaints}`)));
  });
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function family(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...children.split(' ').filter(Boolean).flatMap((child) => family(Number(child)))];
}

/** CPU time in seconds, user and system, that a process, its children and all their threads had. */
export function cpuSeconds(pid) {
  let nanoseconds = 0n;
  for (const member of family(pid)) {
    for (const thread of readdirSync(`/proc/${member}/task`)) {
      const [ran] = readFileSync(`/proc/${member}/task/${thread}/schedstat`, 'utf8').split(' ');
      nanoseconds += BigInt(ran);
    }
  }
  return Number(nanoseconds) / 1e9;
}

/** Bytes of memory of their own that a process and its children have. */
export function ownMemory(pid) {
  let kilobytes = 0;
  for (const member of family(pid)) {
    kilobytes += Number(/RssAnon:\s*(\d+)/.exec(readFileSync(`/proc/${member}/status`, 'utf8'))[1]);
  }
  return kilobytes * 1024;
}
