// The manifests, the unit and the compose file say the same as the program and the configurations that
// they bring along.
import assert from 'node:assert/strict';
import {execFile, execFileSync, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {parse, parseAllDocuments} from 'yaml';
import {hasCommand} from './lib/commands.mjs';
import {needsGateway} from './lib/gateway.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (...names) => readFileSync(path.join(root, ...names), 'utf8');
const weir = process.env.WEIR_BIN && path.resolve(process.env.WEIR_BIN);
const MiB = 1024 * 1024;

// The `${NAME}` of a configuration that have no default.
const namedIn = (text) =>
  new Set([...text.replace(/#.*$/gm, '').matchAll(/\$\{(\w+)\}/g)].map((found) => found[1]));

const seconds = (duration) => {
  const [, count, unit] = duration.match(/^(\d+)(ms|s|m)$/);
  return Number(count) * {ms: 0.001, s: 1, m: 60}[unit];
};

const bytes = (size) => {
  const [, count, unit] = size.match(/^(\d+)(Ki|Mi|Gi)B?$/);
  return Number(count) * {Ki: 1024, Mi: MiB, Gi: 1024 * MiB}[unit];
};

// Whether a name fits a pattern with one `*`.
const fits = (pattern, name) => {
  const [start, end] = pattern.split('*');
  return name.startsWith(start) && name.endsWith(end);
};

const port = (address) => Number(address.match(/:(\d+)$/)[1]);

// Has to pass `weir check` with these variables and no others; gives what the file says, over the defaults.
async function configuration(text, variables) {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-deploy-'));
  try {
    const file = path.join(folder, 'weir.yaml');
    writeFileSync(file, text);
    const env = Object.fromEntries(variables.map((name) => [name, `value-of-${name}`]));
    await promisify(execFile)(weir, ['check', '--config', file], {env});
  } finally {
    rmSync(folder, {recursive: true});
  }
  const {server = {}, admin = {}} = parse(text);
  const defaults = {
    listen: '127.0.0.1:8545',
    max_connections: 10000,
    max_buffered: '512MiB',
    drain_delay: '5s',
    drain_timeout: '20s',
  };
  return {...defaults, ...server, admin: {listen: '127.0.0.1:9545', ...admin}};
}

// What docs/limits.md says that a process takes at most.
const memoryBound = (config) =>
  bytes(config.max_buffered) + 48 * MiB + config.max_connections * 32 * 1024;

const drain = (config) => seconds(config.drain_delay) + seconds(config.drain_timeout);

// {kind: object} of every manifest that a kustomization names, and its configuration's text.
function kustomization(name) {
  const folder = ['deploy', 'kubernetes', name];
  const {resources, configMapGenerator} = parse(read(...folder, 'kustomization.yaml'));
  assert.deepEqual(configMapGenerator, [{name: 'weir', files: ['weir.yaml']}]);
  const files = readdirSync(path.join(root, ...folder)).sort();
  assert.deepEqual(files, [...resources, 'kustomization.yaml', 'weir.yaml'].sort());
  const objects = resources.flatMap((file) =>
    parseAllDocuments(read(...folder, file)).map((document) => document.toJS()),
  );
  return {
    text: read(...folder, 'weir.yaml'),
    ...Object.fromEntries(objects.map((object) => [object.kind, object])),
  };
}

function assertHardened({securityContext}) {
  assert.equal(securityContext.runAsNonRoot, true);
  assert.equal(securityContext.allowPrivilegeEscalation, false);
  assert.equal(securityContext.readOnlyRootFilesystem, true);
  assert.deepEqual(securityContext.capabilities, {drop: ['ALL']});
  assert.deepEqual(securityContext.seccompProfile, {type: 'RuntimeDefault'});
  const {runAsUser, runAsGroup} = securityContext;
  assert.match(read('docker', 'Dockerfile'), new RegExp(`^USER ${runAsUser}:${runAsGroup}$`, 'm'));
}

// What holds of weir's container wherever it runs in a pod; gives its configuration.
async function assertServes(container, volumes, text) {
  assert.deepEqual(container.args, ['run', '--config', '/etc/weir/weir.yaml']);
  assert.equal(container.command, undefined, "the image's entry point is weir");
  assert.deepEqual(container.volumeMounts, [{name: 'weir', mountPath: '/etc/weir', readOnly: true}]);
  assert.deepEqual(volumes, [{name: 'weir', configMap: {name: 'weir'}}]);
  for (const {name, valueFrom} of container.env) {
    assert.deepEqual(valueFrom, {secretKeyRef: {name: 'weir-keys', key: name}}, 'no key in a file');
  }
  const given = container.env.map(({name}) => name);
  assert.deepEqual(new Set(given), namedIn(text));
  const config = await configuration(text, given);
  const ports = Object.fromEntries(container.ports.map((one) => [one.name, one.containerPort]));
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
    if (!probe) continue;
    // A probe comes from outside of the pod.
    assert.match(config.admin.listen, /^0\.0\.0\.0:/);
    assert.equal(ports[probe.httpGet.port], port(config.admin.listen));
  }
  assert.equal(container.startupProbe.httpGet.path, '/livez');
  assert.equal(container.livenessProbe.httpGet.path, '/livez', 'nothing to restart when providers fail');
  const limit = bytes(container.resources.limits.memory);
  assert.ok(limit >= memoryBound(config), `${limit} bytes are fewer than ${memoryBound(config)}`);
  assertHardened(container);
  return {config, ports};
}

test('kubernetes: a sidecar', needsGateway, async () => {
  const {Deployment, text} = kustomization('sidecar');
  const {spec} = Deployment.spec.template;
  const [weir] = spec.initContainers;
  assert.equal(weir.restartPolicy, 'Always', 'a native sidecar');
  assert.equal(weir.readinessProbe, undefined, "it would count for the pod's readiness");
  const {config} = await assertServes(weir, spec.volumes, text);
  assert.equal(config.listen, '127.0.0.1:8545', 'for this pod only');
  const [app] = spec.containers;
  assert.ok(app.env.some(({value}) => value === `http://${config.listen}`));
  const ownTime = 30;
  assert.ok(spec.terminationGracePeriodSeconds >= ownTime + drain(config) + 5);
});

test('kubernetes: a gateway for a team', needsGateway, async () => {
  const {Deployment, Service, PodDisruptionBudget, NetworkPolicy, text} = kustomization('gateway');
  const {metadata, spec} = Deployment.spec.template;
  const [weir] = spec.containers;
  const {config, ports} = await assertServes(weir, spec.volumes, text);
  assert.equal(weir.readinessProbe.httpGet.path, '/readyz');
  assert.equal(port(config.listen), ports.rpc);
  assert.ok(spec.terminationGracePeriodSeconds >= drain(config) + 5);
  assert.ok(seconds(config.drain_delay) > weir.readinessProbe.periodSeconds, 'it is seen to drain');
  assert.ok(Deployment.spec.replicas >= 2);
  assert.equal(Deployment.spec.strategy.rollingUpdate.maxUnavailable, 0);

  const labels = metadata.labels;
  assert.deepEqual(Service.spec.selector, labels);
  assert.deepEqual(Service.spec.ports, [{name: 'rpc', port: ports.rpc, targetPort: 'rpc'}]);
  assert.equal(Service.spec.sessionAffinity, 'ClientIP', 'filters live in one pod');
  assert.deepEqual(PodDisruptionBudget.spec.selector.matchLabels, labels);
  assert.deepEqual(NetworkPolicy.spec.podSelector.matchLabels, labels);
  const [applications, prometheus] = NetworkPolicy.spec.ingress;
  assert.deepEqual(applications.ports.map((one) => one.port), ['rpc']);
  assert.deepEqual(prometheus.ports.map((one) => one.port), ['admin']);
  assert.ok(NetworkPolicy.spec.ingress.every((rule) => rule.from.length > 0), 'not from everywhere');
});

test('kubectl renders both', {skip: !hasCommand('kubectl') && 'needs kubectl'}, () => {
  for (const name of ['sidecar', 'gateway']) {
    const folder = path.join(root, 'deploy', 'kubernetes', name);
    const text = execFileSync('kubectl', ['kustomize', folder], {encoding: 'utf8'});
    const objects = parseAllDocuments(text).map((document) => document.toJS());
    const map = objects.find(({kind}) => kind === 'ConfigMap');
    const {spec} = objects.find(({kind}) => kind === 'Deployment').spec.template;
    assert.equal(spec.volumes[0].configMap.name, map.metadata.name, 'the name with the hash');
    const version = read('CMakeLists.txt').match(/VERSION (\d+\.\d+\.\d+)/)[1];
    const images = [...(spec.initContainers ?? []), ...spec.containers].map(({image}) => image);
    assert.ok(images.includes(`weir:${version}`));
  }
});

test('compose', needsGateway, async () => {
  const {services, volumes} = parse(read('docker', 'compose.yaml'));
  const text = read('docker', 'weir', 'weir.yaml');
  const config = await configuration(text, Object.keys(services.weir.environment));
  assert.match(config.listen, /^0\.0\.0\.0:8545$/);
  assert.match(config.admin.listen, /^0\.0\.0\.0:9545$/);
  assert.ok(parseFloat(services.weir.stop_grace_period) >= drain(config) + 5);
  const prometheus = parse(read('docker', 'prometheus.yaml'));
  const {rule_files, scrape_configs: [{static_configs: [{targets}]}]} = prometheus;
  assert.deepEqual(targets, [`weir:${port(config.admin.listen)}`]);
  for (const file of readdirSync(path.join(root, 'deploy', 'prometheus'))) {
    if (file.startsWith('.')) continue;
    assert.ok(rule_files.some((pattern) => fits(pattern, `weir/${file}`)), `${file} is loaded`);
  }
  for (const [name, service] of Object.entries(services)) {
    for (const published of service.ports) assert.match(published, /^127\.0\.0\.1:/, name);
    for (const mount of service.volumes) {
      const [source] = mount.split(':');
      const exists = source.startsWith('.')
        ? existsSync(path.join(root, 'docker', source))
        : source in volumes;
      assert.ok(exists, `${name}: ${source}`);
    }
  }
});

test('systemd: the unit', {skip: !hasCommand('systemd-analyze') && 'needs systemd-analyze'}, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-unit-'));
  try {
    const file = path.join(folder, 'weir.service');
    // The program need not be installed for the unit to be judged.
    const unit = read('deploy', 'systemd', 'weir.service');
    writeFileSync(file, unit.replaceAll('/usr/bin/weir', '/bin/true'));
    const {status, stderr} = spawnSync('systemd-analyze', ['verify', '--man=no', file], {encoding: 'utf8'});
    const told = stderr.split('\n').filter((line) => line.includes('weir'));
    assert.deepEqual([status, told], [0, []]);
    assert.match(unit, /^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
    // Every drop-in that the documentation has.
    for (const [dropIn] of read('docs', 'operations.md').matchAll(/^ {4}\[Service\]\n(?: {4}.+\n)+/gm)) {
      const lines = dropIn.replace(/^ {4}/gm, '');
      writeFileSync(file, `${unit.replaceAll('/usr/bin/weir', '/bin/true')}\n${lines}`);
      const judged = spawnSync('systemd-analyze', ['verify', '--man=no', file], {encoding: 'utf8'});
      assert.deepEqual([judged.status, judged.stderr.split('\n').filter((line) => line.includes('weir'))], [0, []], lines);
    }
    assert.ok(Number(unit.match(/^TimeoutStopSec=(\d+)s$/m)[1]) >= 5 + 20 + 5);
  } finally {
    rmSync(folder, {recursive: true});
  }
});
