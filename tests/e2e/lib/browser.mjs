// Headless Chromium, driven over its DevTools pipe: no package, no port.
import {spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {atEnd} from './cleanup.mjs';
import {until} from './wait.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const binary =
  process.env.CHROMIUM_BIN ??
  NAMES.find((name) => spawnSync('which', [name], {stdio: 'ignore'}).status === 0);

export const needsBrowser = binary ? {} : {skip: 'needs chromium'};

export class Browser {
  #child;
  #rest = '';
  #serial = 0;
  #waiting = new Map();

  // `hosts` are names that stand for this machine.
  static async start(t, {hosts = []} = {}) {
    const browser = new Browser();
    const profile = mkdtempSync(path.join(tmpdir(), 'weir-browser-'));
    browser.#child = spawn(
      binary,
      ['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-dev-shm-usage', '--no-first-run',
        '--disable-background-networking', `--host-resolver-rules=${hosts.map((host) => `MAP ${host} 127.0.0.1`).join(',')}`,
        `--user-data-dir=${profile}`, '--remote-debugging-pipe'],
      {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true},
    );
    browser.#child.stdio[4].setEncoding('utf8').on('data', (text) => browser.#hear(text));
    browser.#child.stdio[3].on('error', () => {});
    atEnd(t, async () => {
      process.kill(-browser.#child.pid, 'SIGKILL');  // it and the processes that it has made
      await until('the browser has let go of its profile', () => {
        rmSync(profile, {recursive: true, force: true});
        return true;
      });
    });
    return browser;
  }

  #hear(text) {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop();
    for (const message of messages.map((each) => JSON.parse(each))) {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error) waiting?.reject(new Error(message.error.message));
      else waiting?.resolve(message.result);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#serial;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {resolve, reject});
      this.#child.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + '\0');
    });
  }

  async open(url, {width = 1280, height = 900, scheme = 'light'} = {}) {
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    const page = new Page(this, sessionId);
    await page.send('Page.enable');
    await page.look({width, height, scheme});
    await page.send('Page.navigate', {url});
    return page;
  }
}

class Page {
  #browser;
  #session;

  constructor(browser, session) {
    this.#browser = browser;
    this.#session = session;
  }

  send(method, params) {
    return this.#browser.send(method, params, this.#session);
  }

  async look({width, height = 900, scheme = 'light'}) {
    await this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false});
    await this.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]});
  }

  // The value of an expression in the page.
  async evaluate(expression) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  text(selector = 'body') {
    return this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`);
  }

  async press(key) {
    const code = {Tab: 9, Enter: 13}[key];
    const text = key === 'Enter' ? '\r' : undefined;
    for (const type of ['keyDown', 'keyUp']) {
      await this.send('Input.dispatchKeyEvent', {type, key, code: key, windowsVirtualKeyCode: code, text: type === 'keyDown' ? text : undefined});
    }
  }

  // The whole page as a PNG file.
  async screenshot(file) {
    const {data} = await this.send('Page.captureScreenshot', {format: 'png', captureBeyondViewport: true});
    writeFileSync(file, Buffer.from(data, 'base64'));
  }
}
