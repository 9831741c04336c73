// The recorded exchanges of ethereum/execution-apis (tests/**/*.io): lines `>> request`, `<< reply`.
import {readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {members} from './json.mjs';

function* files(folder) {
  for (const entry of readdirSync(folder, {withFileTypes: true})) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* files(full);
    else if (entry.name.endsWith('.io')) yield full;
  }
}

// [{name, method, paramsText, request, reply}], in the order of the files' names.
export function readExchanges(folder) {
  const exchanges = [];
  for (const file of [...files(folder)].sort()) {
    const name = path.relative(folder, file);
    let request;
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (line.startsWith('>> ')) request = line.slice(3);
      if (line.startsWith('<< ')) {
        const raw = members(request);
        const method = JSON.parse(raw.method);
        exchanges.push({name, method, paramsText: raw.params, request, reply: line.slice(3)});
      }
    }
  }
  return exchanges;
}
