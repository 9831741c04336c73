// What the documentation tells a user to type is typed here, page by page, in a folder that has what the
// page has said so far. Skipped tests say which commands this cannot show, and why.
import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {atEnd} from './lib/cleanup.mjs';
import {hasCommand} from './lib/commands.mjs';
import {needsGateway, startDaemon} from './lib/gateway.mjs';
import {commands, pages, unrunnable} from './lib/pages.mjs';
import {nodeBasics, startProvider} from './lib/provider.mjs';
import {until} from './lib/wait.mjs';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const PROVIDER_URL = /https:\/\/[a-z0-9.-]+/g;
const SECTION = /^(server|admin|log|providers_file|clients|chains):/m;
const CHAINS = '\nchains: [{chain_id: 1, upstreams: [{url: "https://node.example.org"}]}]\n';
const weir = process.env.WEIR_BIN && path.resolve(process.env.WEIR_BIN);
// What the pages take from the environment.
const keys = {
  ALCHEMY_KEY: 'key-of-the-documentation',
  NODE_TOKEN: 'token-of-the-documentation',
  ADMIN_TOKEN: 'admin-token-of-the-documentation',
};

// A user at a terminal, with the repository's folders at hand and weir installed.
class Reader {
  #t;
  #folder = mkdtempSync(path.join(tmpdir(), 'weir-docs-'));
  #daemon;
  #serving; // the command that started it
  #provider;

  static async start(t) {
    const reader = new Reader();
    reader.#t = t;
    reader.#provider = await startProvider(t, (call) =>
      (nodeBasics(1)[call.method] ?? (() => ({result: '0x1'})))(call),
    );
    atEnd(t, () => rmSync(reader.#folder, {recursive: true}));
    for (const name of ['config', 'deploy', 'docker']) {
      cpSync(path.join(repository, name), path.join(reader.#folder, name), {recursive: true});
    }
    mkdirSync(path.join(reader.#folder, '.bin'));
    reader.keep('.exports', '');
    reader.#program('weir', `exec '${weir}' "$@"`);
    return reader;
  }

  keep(name, text) {
    writeFileSync(path.join(this.#folder, name), text);
  }

  // A part of a file is judged as a whole one.
  async check(text) {
    this.keep('.shown.yaml', /^chains:/m.test(text) ? text : text + CHAINS);
    const named = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => [name, `${name}-of-this-page`]);
    await this.#execute(weir, ['check', '--config', '.shown.yaml'], Object.fromEntries(named));
  }

  async demo() {
    if (this.#serving !== 'weir demo') await this.#serve('weir demo');
  }

  async type(text) {
    let script = '';
    const runScript = async () => {
      if (script !== '') await this.#shell(script);
      script = '';
    };
    for (const line of commands(text)) {
      const command = this.#nearby(line);
      if (/^weir (run|demo|check --live)\b/.test(command)) {
        await runScript();
        this.#bringNear(command.match(/ --config (\S+)/)?.[1]);
      }
      if (/^weir (run|demo)\b/.test(command)) {
        await this.#serve(command);
      } else {
        script += command + '\n';
      }
    }
    await runScript();
    if (/^kill (?!-HUP)/m.test(text)) {
      assert.equal(await this.#daemon.ended(), 'ended with 0', text);
      this.#daemon = this.#serving = undefined;
    }
  }

  // The same, but with a provider that is on this machine.
  #nearby(text) {
    return text.replace(PROVIDER_URL, this.#provider.url);
  }

  #bringNear(file) {
    if (file) this.keep(file, this.#nearby(readFileSync(path.join(this.#folder, file), 'utf8')));
  }

  #program(name, line) {
    const file = path.join(this.#folder, '.bin', name);
    writeFileSync(file, `#!/bin/sh\n${line}\n`);
    chmodSync(file, 0o755);
  }

  async #serve(command) {
    await this.#daemon?.stop();
    this.#serving = command;
    this.#daemon = await startDaemon(this.#t, 'bash', [
      '-c',
      `. ./.exports; exec ${command} --listen 127.0.0.1:0 --admin 127.0.0.1:0`,
    ], {cwd: this.#folder, env: this.#environment()});
    const admin = this.#daemon.admin.replace('http://', '');
    this.#program('weir', `
case "$1" in
  health) exec '${weir}' "$@" --admin ${admin} ;;
  *) exec '${weir}' "$@" ;;
esac`);
    this.#program('pidof', `echo ${this.#daemon.pid}`);
  }

  async #shell(script) {
    const here = this.#daemon
      ? script
          .replaceAll('http://127.0.0.1:8545', this.#daemon.url.replace(/\/$/, ''))
          .replaceAll('http://127.0.0.1:9545', this.#daemon.admin)
      : script;
    // What is exported holds for the rest of the page.
    const lines = ['. ./.exports', here, 'export -p > .exports'].join('\n');
    await this.#execute('bash', ['-e', '-o', 'pipefail', '-c', lines]);
  }

  async #execute(file, args, variables) {
    try {
      await promisify(execFile)(file, args, {
        cwd: this.#folder,
        env: {...this.#environment(), ...variables},
        timeout: 30_000,
      });
    } catch (error) {
      throw new Error(`${error.message}\n${error.stdout}${error.stderr}`, {cause: error});
    }
  }

  #environment() {
    return {...process.env, ...keys, PATH: `${this.#folder}/.bin:${process.env.PATH}`};
  }
}

function reasonNotToRun({words}) {
  const valueOf = (key) => words.find((one) => one.startsWith(`${key}=`))?.slice(key.length + 1);
  const program = valueOf('needs');
  if (program && !hasCommand(program)) return `needs ${program}`;
  const word = valueOf('unrun');
  assert.ok(!word || unrunnable[word], `unrun=${word}: not one of ${Object.keys(unrunnable)}`);
  return word && unrunnable[word];
}

async function follow(reader, {language, words, text}) {
  if (language === 'yaml') {
    if (SECTION.test(text)) await reader.check(text);
    if (words[0]) reader.keep(words[0], text);
  } else {
    if (words.includes('demo')) await reader.demo();
    await reader.type(text);
  }
}

for (const page of pages()) {
  test(page.name, {...needsGateway, timeout: 120_000}, async (t) => {
    assert.deepEqual(page.strays, [], 'every command stands in a block that begins with ```sh');
    const reader = page.blocks.length > 0 ? await Reader.start(t) : undefined;
    for (const block of page.blocks) {
      const skip = reasonNotToRun(block);
      const first = block.text.trim().split('\n')[0];
      await t.test(`line ${block.line}: ${first}`, {skip}, () => follow(reader, block));
    }
  });
}
