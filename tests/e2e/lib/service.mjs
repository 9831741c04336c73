// A child process that serves: started, watched, stopped by its process id.
import {spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import {atEnd} from './cleanup.mjs';
import {until} from './wait.mjs';

export class Service {
  #child;
  #exit = null;
  #lines = [];
  #stopping = false;

  // `t` is the test or suite whose end stops the service.
  constructor(t, name, command, args, options = {}) {
    this.name = name;
    this.#child = spawn(command, args, {stdio: ['ignore', 'pipe', 'pipe'], ...options});
    this.#child.on('error', (error) => (this.#exit = `could not be started: ${error.message}`));
    this.#child.on('exit', (code, signal) => (this.#exit = `ended with ${signal ?? code}`));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      createInterface({input: stream}).on('line', (line) => this.#keep(line));
    }
    atEnd(t, () => this.stop());
  }

  get pid() {
    return this.#child.pid;
  }

  // The last lines that it printed, for messages.
  tail() {
    return this.#lines.slice(-20).join('\n');
  }

  // The first line for which `read` gives something true; that is the result.
  async announced(what, read) {
    return until(`${this.name} says ${what}`, () => {
      for (const line of this.#lines) {
        const value = read(line);
        if (value) return value;
      }
      this.assertRunning();
      return null;
    }).catch((error) => {
      throw new Error(`${error.message}; ${this.name} said:\n${this.tail()}`);
    });
  }

  assertRunning() {
    if (this.#exit && !this.#stopping) {
      throw new Error(`${this.name} ${this.#exit}; its last lines:\n${this.tail()}`);
    }
  }

  // Ends it at once, as a crash of its machine would.
  async kill() {
    this.#stopping = true;
    if (!this.#exit) this.#child.kill('SIGKILL');
    await until(`${this.name} is gone`, () => this.#exit);
  }

  // Waits until it has ended because it was told to, and says how.
  async ended() {
    await until(`${this.name} ends`, () => this.#exit, {within: 40_000});
    this.#stopping = true;
    return this.#exit;
  }

  // Ends it; a service that has ended by itself before is a failure of the test.
  async stop() {
    this.assertRunning();
    await this.kill();
  }

  #keep(line) {
    this.#lines.push(line);
    if (this.#lines.length > 5000) this.#lines.splice(1000, 1000);
  }
}
