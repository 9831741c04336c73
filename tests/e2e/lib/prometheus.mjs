// A real Prometheus that scrapes one address and judges the project's alert rules, all of it sped up.
import {execFileSync, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import net from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {atEnd} from './cleanup.mjs';
import {Service} from './service.mjs';
import {until} from './wait.mjs';

export const repository = fileURLToPath(new URL('../../../', import.meta.url));
export const rules = path.join(repository, 'deploy/prometheus/alerts.yaml');

const there = (name) => spawnSync('which', [name], {stdio: 'ignore'}).status === 0;
export const needsPrometheus =
  there('prometheus') && there('promtool') ? {} : {skip: 'needs prometheus and promtool'};

export function promtool(...args) {
  return execFileSync('promtool', args, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
}

export function temporaryFolder(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-prometheus-'));
  atEnd(t, () => rmSync(folder, {recursive: true, force: true}));
  return folder;
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

// The rules with their patience and their windows in seconds instead of minutes.
function hastened() {
  return readFileSync(rules, 'utf8')
    .replace(/for: \d+m/g, 'for: 1s')
    .replace(/\[\d+m\]/g, '[6s]');
}

// `target` is HOST:PORT.
export async function startPrometheus(t, target) {
  const folder = temporaryFolder(t);
  const port = await freePort();
  writeFileSync(path.join(folder, 'alerts.yaml'), hastened());
  // YAML takes JSON as it is.
  writeFileSync(path.join(folder, 'prometheus.yaml'), JSON.stringify({
    global: {scrape_interval: '500ms', scrape_timeout: '400ms', evaluation_interval: '500ms'},
    rule_files: ['alerts.yaml'],
    scrape_configs: [{job_name: 'weir', static_configs: [{targets: [target]}]}],
  }));
  const prometheus = new Service(t, 'prometheus', 'prometheus', [
    `--config.file=${path.join(folder, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  const ask = async (what) => (await (await fetch(`http://127.0.0.1:${port}/api/v1/${what}`)).json()).data;
  await until('prometheus scrapes weir', async () => {
    prometheus.assertRunning();
    return (await ask('query?query=weir_build_info')).result.length > 0;
  });
  // The labels of the alerts of that name that fire.
  prometheus.firing = async (name) => (await ask('alerts')).alerts
    .filter((alert) => alert.state === 'firing' && alert.labels.alertname === name)
    .map((alert) => alert.labels);
  prometheus.allFiring = async () => (await ask('alerts')).alerts
    .filter((alert) => alert.state === 'firing').map((alert) => alert.labels.alertname);
  return prometheus;
}
