// The commands and configuration files that a page of the documentation shows.
//
//   ```sh                 commands, run in order in a folder of the page's own. `weir run` or `weir demo`
//                         as the last one stays up until the page ends or another takes its place.
//   ```sh demo            the same while `weir demo` is up
//   ```sh needs=PROGRAM   the same where PROGRAM is at hand
//   ```sh unrun=WORD      not run; WORD is a key of `unrunnable`
//   ```yaml NAME          a file
//   ```yaml               something of a file; what begins with a section of the configuration has to pass
//                         `weir check`, in both
import {readdirSync, readFileSync} from 'node:fs';

export const unrunnable = {
  build: 'builds or tests the project itself',
  engine: 'needs a container engine, and images from the Internet',
  cluster: 'needs a Kubernetes cluster',
  system: 'changes the system that it runs on: needs root, and systemd as its first process',
};

const root = new URL('../../../', import.meta.url);

export function pages() {
  const docs = readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md'));
  return ['README.md', ...docs.sort().map((name) => `docs/${name}`)].map((name) => ({
    name,
    ...readPage(readFileSync(new URL(name, root), 'utf8')),
  }));
}

// {blocks: [{line, language, words, text}], strays: [{line, text}]}: the fenced blocks of shell and YAML,
// and commands that stand in other places, where no test would find them.
export function readPage(text) {
  const blocks = [];
  const strays = [];
  let fence = null;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('```')) {
      const [language = '', ...words] = line.slice(3).trim().split(/\s+/);
      if (fence) {
        if (['sh', 'yaml'].includes(fence.language)) blocks.push(fence);
        fence = null;
      } else {
        fence = {line: index + 1, language, words, text: ''};
      }
    } else if (fence) {
      fence.text += line + '\n';
    } else if (COMMAND.test(line)) {
      strays.push({line: index + 1, text: line.trim()});
    }
  }
  return {blocks, strays};
}

const COMMAND =
  /^ {4,}(\$ )?(sudo|weir (run|demo|check|health|probe)|curl|docker|kubectl|systemctl|journalctl|\.\/dev|cmake|apt|apt-get|dpkg|npm|kill) /;

// One command a line: continued lines joined, comments and blank lines left out.
export function commands(text) {
  return text
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'));
}
