// What `cmake --install` and the Debian package put where.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {hasCommand} from './lib/commands.mjs';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const read = (...names) => readFileSync(path.join(repository, ...names), 'utf8');
const weir = process.env.WEIR_BIN && path.resolve(process.env.WEIR_BIN);
// Where weir was built, if it was by CMake.
const build = weir && existsSync(path.join(path.dirname(weir), 'CMakeCache.txt')) && path.dirname(weir);

test('cmake --install', {skip: !build && 'needs a build folder'}, (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'weir-install-'));
  t.after(() => rmSync(root, {recursive: true}));
  // With a strict umask, as an administrator may have it.
  const install = (prefix) =>
    execFileSync('sh', ['-c', 'umask 077; exec cmake --install "$0" --prefix "$1"', build, prefix], {
      env: {...process.env, DESTDIR: root},
    });
  const installed = (...names) => path.join(root, ...names);

  install('/usr');
  assert.match(execFileSync(installed('usr/bin/weir'), ['version'], {encoding: 'utf8'}), /^weir \d/);
  const unit = readFileSync(installed('usr/lib/systemd/system/weir.service'), 'utf8');
  assert.equal(unit, read('deploy', 'systemd', 'weir.service'));
  assert.equal(readFileSync(installed('etc/weir/weir.yaml'), 'utf8'), read('config', 'minimal.yaml'));
  assert.equal(statSync(installed('etc/weir/weir.env')).mode & 0o777, 0o600, 'it is for keys');
  assert.equal(statSync(installed('etc/weir')).mode & 0o777, 0o755, 'the service has a user of its own');
  for (const name of ['README.md', 'docs/operations.md', 'config/example.yaml', 'deploy/kubernetes']) {
    assert.ok(existsSync(installed('usr/share/doc/weir', name)), name);
  }

  writeFileSync(installed('etc/weir/weir.yaml'), '# mine');
  install('/usr');
  assert.equal(readFileSync(installed('etc/weir/weir.yaml'), 'utf8'), '# mine', 'it is kept');

  install('/opt/weir');
  const moved = readFileSync(installed('opt/weir/lib/systemd/system/weir.service'), 'utf8');
  assert.match(moved, /^ExecStart=\/opt\/weir\/bin\/weir run --config \/opt\/weir\/etc\/weir\/weir.yaml$/m);
  assert.ok(existsSync(installed('opt/weir/etc/weir/weir.yaml')));
});

const packages = ['cpack', 'dpkg-deb', 'dpkg-shlibdeps', 'file'];
const lacking = packages.find((name) => !hasCommand(name));

test('the Debian package', {skip: lacking ? `needs ${lacking}` : !build && 'needs a build folder'}, (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-package-'));
  t.after(() => rmSync(folder, {recursive: true}));
  execFileSync('sh', ['-c', 'umask 022; exec cpack -G DEB -B "$0"', folder], {cwd: build});
  const [name] = readdirSync(folder).filter((one) => one.endsWith('.deb'));
  const deb = path.join(folder, name);
  const dpkg = (...args) => execFileSync('dpkg-deb', args, {encoding: 'utf8'});

  assert.match(dpkg('--field', deb, 'Depends'), /ca-certificates.*libc6.*libssl3/);
  const control = path.join(folder, 'control');
  dpkg('--control', deb, control);
  assert.deepEqual(readdirSync(control).sort(), [
    'conffiles', 'control', 'md5sums', 'postinst', 'postrm', 'prerm',
  ]);
  const tree = path.join(folder, 'tree');
  dpkg('--extract', deb, tree);
  assert.match(dpkg('--contents', deb), /^drwxr-xr-x root\/root .* \.\/etc\/weir\/$/m);
  const conffiles = readFileSync(path.join(control, 'conffiles'), 'utf8').trim().split('\n');
  for (const file of conffiles) assert.ok(existsSync(path.join(tree, file)), file);
  const etc = readdirSync(path.join(tree, 'etc/weir')).map((file) => `/etc/weir/${file}`);
  assert.deepEqual(conffiles, etc.sort(), "dpkg keeps what an operator has changed");
  const version = execFileSync(path.join(tree, 'usr/bin/weir'), ['version'], {encoding: 'utf8'});
  assert.equal(version.trim(), `weir ${dpkg('--field', deb, 'Version').trim()}`);
});
